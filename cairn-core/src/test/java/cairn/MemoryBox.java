package cairn;

import cairn.format.CborWriter;
import cairn.format.Forms;
import cairn.format.KeyCache;
import cairn.format.Secrets;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.storage.Region;
import java.nio.ByteBuffer;
import java.util.function.Function;

/** A box in memory, written by the real writers and read by the real report. */
final class MemoryBox {
  static final long NONCE = 0x0123456789ABCDEFL;

  final FakeClock clock = new FakeClock();
  final ByteBuffer buffer;
  final Region region;
  final Box box;

  MemoryBox(int spanSlots, int trailBytes) {
    this(spanSlots, trailBytes, Region::new);
  }

  /** A box as it was written before there was redaction. */
  static MemoryBox withoutRedaction(int spanSlots, int trailBytes) {
    return new MemoryBox(spanSlots, trailBytes, Region::new, Secrets.NONE, Forms.NONE);
  }

  MemoryBox(int spanSlots, int trailBytes, Function<ByteBuffer, Region> regions) {
    this(spanSlots, trailBytes, regions, Secrets.STANDARD, Forms.NONE);
  }

  MemoryBox(
      int spanSlots,
      int trailBytes,
      Function<ByteBuffer, Region> regions,
      Secrets secrets,
      Forms forms) {
    BoxPlan plan = new BoxPlan(NONCE, spanSlots, trailBytes, BoxPlan.SCOPE_BYTES);
    buffer = ByteBuffer.allocateDirect(plan.size);
    region = regions.apply(buffer);
    box = new Box(region, plan, NONCE, clock, secrets, forms);
    byte[] identity = new byte[box.identityLimit()];
    box.start(identity, identity(identity));
  }

  /** A fixed identity: the same bytes on every machine. */
  private int identity(byte[] bytes) {
    CborWriter out = new CborWriter(bytes, new KeyCache());
    out.reset(0, bytes.length);
    out.beginMap();
    String[] texts = {
      "runId", "20231114-221320-000-1-89abcdef",
      "app", "memory",
      "release", "1.4.2",
      "environment", "test",
      "host", "example",
      "bootId", "00000000-0000-0000-0000-000000000000",
      "durability", "process",
      "mode", "mapped",
      "cairn", "0.1.0"
    };
    for (int i = 0; i < texts.length; i += 2) {
      out.key(texts[i]);
      out.text(texts[i + 1]);
    }
    out.key("pid");
    out.integer(1);
    out.key("wallMillis");
    out.integer(clock.wallMillis());
    out.key("nanos");
    out.integer(clock.nanos());
    out.end();
    return out.position();
  }

  byte[] image() {
    byte[] bytes = new byte[buffer.capacity()];
    buffer.get(0, bytes);
    return bytes;
  }

  Report report() {
    return ReportOfBytes.read(image());
  }
}
