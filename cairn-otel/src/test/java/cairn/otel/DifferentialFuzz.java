package cairn.otel;

import cairn.Recorder;
import cairn.otel.Pipeline.Maker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes random sequences of calls on the SDK and on Cairn and compares all that can be noticed.
 *
 * <p>A difference is reported with the shortest sequence found that shows it, and with its seed.
 */
final class DifferentialFuzz implements AutoCloseable {
  private static final int MAX_SHRINK_RUNS = 3_000;

  /**
   * They tell of second shutdowns and processors that throw. Held, since loggers are held weakly.
   */
  private static final List<Logger> LOGGERS =
      List.of(Logger.getLogger("io.opentelemetry"), Logger.getLogger("cairn"));

  /** In every so manyth sequence the box is read, which takes as long as all the rest. */
  private static final int BOX_EVERY = 32;

  private final Maker candidate;
  private final Path root;
  private final Recorder recorder;
  private long sequences;
  private long calls;

  private DifferentialFuzz(Maker candidate) {
    this.candidate = candidate;
    try {
      root = Files.createTempDirectory("cairn-otel-fuzz");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    recorder = Recorder.builder("fuzz").directory(root).open();
    LOGGERS.forEach(logger -> logger.setLevel(Level.OFF));
  }

  /** How much was compared, and without a difference. */
  record Outcome(long sequences, long calls) {}

  /** A difference, as text. */
  static final class Difference extends AssertionError {
    private static final long serialVersionUID = 1;

    Difference(String message) {
      super(message);
    }
  }

  /**
   * Compares until so many calls have been made; throws {@link Difference} at the first.
   *
   * @param candidate what is compared with the SDK; the SDK itself shows that the harness is sound
   * @param firstSeed the seeds count up from it
   */
  static Outcome run(Maker candidate, long firstSeed, long calls) {
    try (DifferentialFuzz fuzz = new DifferentialFuzz(candidate)) {
      for (long seed = firstSeed; fuzz.calls < calls; seed++) {
        fuzz.compare(seed);
      }
      return new Outcome(fuzz.sequences, fuzz.calls);
    }
  }

  /** Compares the sequence of one seed. */
  static void replay(long seed) {
    try (DifferentialFuzz fuzz = new DifferentialFuzz(Maker.CAIRN)) {
      fuzz.compare(seed);
    }
  }

  @Override
  public void close() {
    recorder.close();
    delete(root);
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void compare(long seed) {
    List<FuzzStep> steps = FuzzStep.sequence(seed);
    sequences++;
    calls += steps.size();
    if (difference(seed, steps) != null) {
      List<FuzzStep> few = shrink(seed, steps);
      throw new Difference(
          "SDK and Cairn differ (replay with -Dcairn.otel.fuzz.seed="
              + seed
              + ")\n"
              + difference(seed, few));
    }
  }

  private @Nullable String difference(long seed, List<FuzzStep> steps) {
    List<String> expected = new FuzzWorld(Maker.SDK, seed, Recorders.disabled(), null).run(steps);
    List<String> got = seed % BOX_EVERY == 1 ? withBox(seed, steps) : withoutBox(seed, steps);
    for (int i = 0; i < Math.max(expected.size(), got.size()); i++) {
      String ours = i < got.size() ? got.get(i) : "(nothing)";
      String theirs = i < expected.size() ? expected.get(i) : "(nothing)";
      if (!ours.equals(theirs)) {
        StringBuilder text = new StringBuilder();
        expected
            .subList(0, Math.min(i, expected.size()))
            .forEach(line -> text.append("  ").append(line).append('\n'));
        return text.append("SDK:   ").append(theirs).append("\nCairn: ").append(ours).toString();
      }
    }
    return null;
  }

  private List<String> withoutBox(long seed, List<FuzzStep> steps) {
    // Odd seeds have a recorder, even ones have processors only.
    Recorder box = seed % 2 == 0 ? Recorders.disabled() : recorder;
    return new FuzzWorld(candidate, seed, box, null).run(steps);
  }

  /**
   * Makes the calls with a box of their own, which is then read: ids come again in each sequence.
   */
  private List<String> withBox(long seed, List<FuzzStep> steps) {
    Path own = root.resolve("own");
    try (Recorder box = Recorder.builder("own").directory(own).trailBytes(64 << 10).open()) {
      return new FuzzWorld(candidate, seed, box, own).run(steps);
    } finally {
      delete(own);
    }
  }

  /** {@return as few of the steps as can be found quickly that still differ} */
  private List<FuzzStep> shrink(long seed, List<FuzzStep> steps) {
    List<FuzzStep> few = steps;
    int runs = 0;
    for (int size = few.size() / 2; size > 0; size /= 2) {
      for (int from = 0; from < few.size() && runs < MAX_SHRINK_RUNS; runs++) {
        List<FuzzStep> fewer = new ArrayList<>(few.subList(0, from));
        fewer.addAll(few.subList(Math.min(from + size, few.size()), few.size()));
        if (difference(seed, fewer) != null) {
          few = fewer;
        } else {
          from += size;
        }
      }
    }
    return few;
  }

  /** {@code DifferentialFuzz calls [seed]}. */
  public static void main(String[] args) {
    long calls = Long.parseLong(args[0]);
    long seed = args.length > 1 ? Long.parseLong(args[1]) : System.nanoTime();
    Maker candidate = Boolean.getBoolean("cairn.otel.fuzz.self") ? Maker.SDK : Maker.CAIRN;
    long begin = System.nanoTime();
    Outcome outcome = run(candidate, seed, calls);
    System.out.println(
        outcome + " seed=" + seed + " seconds=" + (System.nanoTime() - begin) / 1_000_000_000);
    for (Deviation deviation : Deviation.values()) {
      System.out.println(deviation + " " + deviation.occurrences() + ": " + deviation.reason);
    }
  }
}
