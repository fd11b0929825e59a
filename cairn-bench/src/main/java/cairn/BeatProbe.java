package cairn;

import cairn.format.Forms;
import cairn.format.Secrets;
import cairn.format.VitalsLayout;
import cairn.storage.MappedFile;
import cairn.storage.PrivateFiles;
import cairn.storage.Region;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Does what the housekeeper's thread does, as often as it is asked to, over a mapped box. In the
 * recorder's package, whose beat is nobody else's business.
 */
public final class BeatProbe {
  private static final int SLOTS = 1024;
  private static final int TRAIL_BYTES = 2 << 20;
  private static final int PAGE = 4096;
  private static final long PRETENDED_LIMIT = 1L << 50;

  private final Box box;
  private final Housekeeper housekeeper;
  private final VitalsSources sources = new VitalsSources();
  private final long[] values = new long[VitalsLayout.COUNT];

  /**
   * Makes the box and beats once.
   *
   * @param message the termination message, or null for none
   */
  public BeatProbe(Path directory, @Nullable Path message) throws IOException {
    long nonce = 1;
    BoxPlan plan = new BoxPlan(nonce, SLOTS, TRAIL_BYTES, BoxPlan.SCOPE_BYTES);
    Path file = directory.resolve("box");
    ByteBuffer mapped;
    try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
      PrivateFiles.fill(access, plan.size, PAGE);
      mapped = MappedFile.map(access.getChannel(), plan.size);
    }
    if (mapped == null) {
      throw new IOException("box can't be mapped: file=" + file);
    }
    box = new Box(new Region(mapped), plan, nonce, Clock.SYSTEM, Secrets.STANDARD, Forms.NONE);
    box.start(new byte[] {(byte) 0xa0}, 1);
    TerminationMessage text =
        message == null
            ? null
            : new TerminationMessage(message, "bench", box.spans, Clock.SYSTEM, box.counters);
    housekeeper = new Housekeeper(box, null, null, new ShutdownWatch(box.life), null, text);
    beat();
  }

  /** Begins a span on this thread. */
  public void begin(String name) {
    box.beginSpan(name);
  }

  /** One beat with all vitals. */
  public void beat() {
    housekeeper.beat(sources, values, true);
  }

  /** What is done in between while memory is tight. */
  public void beatBetween() {
    housekeeper.beatBetween(sources, values);
  }

  /** A look at a cgroup that pretends to be full, after one that pretends to be at half. */
  public void snapshot() {
    values[VitalsLayout.HEAP_USED] = 0;
    values[VitalsLayout.CGROUP_LIMIT] = PRETENDED_LIMIT;
    values[VitalsLayout.CGROUP_USAGE] = PRETENDED_LIMIT / 100 * 60;
    box.pressure.look(values, sources);
    values[VitalsLayout.CGROUP_USAGE] = PRETENDED_LIMIT / 100 * 97;
    if (!box.pressure.look(values, sources)) {
      throw new IllegalStateException("no snapshot was taken");
    }
  }

  /** {@return whether memory is tight or about to be, as the last beat saw it} */
  public boolean isUrgent() {
    return box.pressure.isUrgent();
  }
}
