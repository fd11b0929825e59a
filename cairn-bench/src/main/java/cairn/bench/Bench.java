package cairn.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the measurements and prints a Markdown table for each.
 *
 * <p>Arguments: {@code record | peers | encode | json | handoff | durable | latency | startup |
 * cold | footprint | beat | sentry | spans | heaps | all}, where all leaves out heaps; then {@code
 * --quick} (directional; encode takes under four minutes, spans five, handoff, durable and sentry
 * two each, the others three together), {@code --rounds N}, {@code --patience SECONDS} (how long to
 * wait, in all, for a machine that others use to be quiet); of encode, json, handoff, durable,
 * spans and heaps {@code --only NAME,...}, of the first three {@code --size BYTES,...}, of spans
 * {@code --case NAME,...}, of durable and spans {@code --threads N,...}, of heaps what {@link
 * HeapSweep} says. Files go to {@code --dir DIR}, else to {@code java.io.tmpdir}, which must lie on
 * the disk to be measured, and are deleted afterwards; results of spans and heaps stay, in {@code
 * --out DIR}, else beside the jar.
 */
public final class Bench {
  private static final List<String> COMMANDS =
      List.of(
          "record",
          "peers",
          "encode",
          "json",
          "handoff",
          "durable",
          "latency",
          "startup",
          "cold",
          "footprint",
          "beat",
          "sentry",
          "spans",
          "heaps");

  /** Takes as long as all the others together. */
  private static final String LONGEST = "heaps";

  private Bench() {}

  /** Exits with 0, or 1 if a measurement measured nothing real, or 2 on wrong usage. */
  public static void main(String[] args) throws Exception {
    List<String> rest = new ArrayList<>(List.of(args));
    boolean quick = rest.remove("--quick");
    String roundsOption = option(rest, "--rounds", "");
    int rounds = roundsOption.isEmpty() ? (quick ? 1 : 3) : Integer.parseInt(roundsOption);
    int patience = Integer.parseInt(option(rest, "--patience", "0"));
    List<String> only = list(option(rest, "--only", ""));
    List<Integer> sizes = list(option(rest, "--size", "")).stream().map(Integer::valueOf).toList();
    List<Integer> threads =
        list(option(rest, "--threads", "")).stream().map(Integer::valueOf).toList();
    List<String> cases = list(option(rest, "--case", ""));
    Path out = Path.of(option(rest, "--out", besideJar().toString()));
    // Their options are no other command's, and would be taken for a second command.
    HeapPlan plan =
        rest.contains(LONGEST) && HeapArm.ids().containsAll(only)
            ? HeapPlan.of(rest, quick, roundsOption, only, out.resolve("heaps"))
            : null;
    Path directory = Path.of(option(rest, "--dir", Scratch.root().toString()));
    String command = rest.size() == 1 ? rest.get(0) : "";
    if ((!command.equals("all") && !COMMANDS.contains(command))
        || !known(command).containsAll(only)
        || !SpanCase.names().containsAll(cases)
        || !EncodePayload.SIZES.containsAll(sizes)
        || threads.stream().anyMatch(count -> count < 1)) {
      System.err.println(
          "usage: bench "
              + String.join("|", COMMANDS)
              + "|all [--quick] [--rounds N] [--patience SECONDS] [--dir DIR]\n"
              + "       bench encode|json|handoff [--only NAME,...] [--size BYTES,...]\n"
              + "       bench durable [--only NAME,...] [--threads N,...]\n"
              + "       bench spans [--only NAME,...] [--case NAME,...] [--threads N,...] [--out DIR]\n"
              + "       bench heaps [--heaps MB,...] [--only NAME,...] [--starts N] [--seconds N]\n"
              + "                   [--warmup N] [--clients N] [--out DIR]\n"
              + "encode: "
              + String.join(",", Contender.NAMES)
              + "\njson: "
              + String.join(",", JsonRuns.NAMES)
              + "\nhandoff: "
              + String.join(",", HandOffRuns.METHODS)
              + "\ndurable: "
              + String.join(",", DurableContender.NAMES)
              + "\nspans: "
              + String.join(",", SpanContender.NAMES)
              + "; cases: "
              + String.join(",", SpanCase.names())
              + "\nheaps: "
              + String.join(",", HeapArm.ids())
              + "\nsizes: "
              + EncodePayload.SIZES);
      System.exit(2);
    }
    Settings settings =
        new Settings(
            quick,
            rounds,
            new Patience(patience),
            only,
            sizes,
            cases.stream().map(SpanCase::of).toList(),
            threads);
    try (Scratch scratch = Scratch.create(directory, "bench")) {
      System.setProperty("java.io.tmpdir", scratch.directory().toString());
      machine();
      for (String name : command.equals("all") ? COMMANDS : List.of(command)) {
        if (name.equals(LONGEST) && command.equals("all")) {
          continue;
        }
        System.out.println("## " + name + "\n");
        run(name, settings, out, plan);
      }
    }
  }

  static String option(List<String> args, String name, String otherwise) {
    int at = args.indexOf(name);
    if (at < 0 || at + 1 == args.size()) {
      return otherwise;
    }
    args.remove(at);
    return args.remove(at);
  }

  /** {@return what {@code --only} can choose from} */
  private static List<String> known(String command) {
    return switch (command) {
      case "encode" -> Contender.NAMES;
      case "json" -> JsonRuns.NAMES;
      case "handoff" -> HandOffRuns.METHODS;
      case "durable" -> DurableContender.NAMES;
      case "spans" -> SpanContender.NAMES;
      case "heaps" -> HeapArm.ids();
      default -> List.of();
    };
  }

  static List<String> list(String option) {
    return option.isEmpty() ? List.of() : List.of(option.split(","));
  }

  /** {@return the directory that the jar is in} */
  private static Path besideJar() {
    return Path.of(Child.classpath()).toAbsolutePath().getParent();
  }

  private static void run(String command, Settings settings, Path out, @Nullable HeapPlan plan)
      throws Exception {
    switch (command) {
      case "record" -> new RecordRuns(settings).record();
      case "peers" -> new RecordRuns(settings).peers();
      case "encode" -> new EncodeRuns(settings).run();
      case "json" -> new JsonRuns(settings).run();
      case "handoff" -> new HandOffRuns(settings).run();
      case "durable" -> DurableWrites.run(settings);
      case "latency" -> LatencyHarness.run(settings);
      case "startup" -> StartupHarness.run(settings);
      case "cold" -> ColdStart.run(settings);
      case "footprint" -> FootprintHarness.run(settings);
      case "beat" -> BeatHarness.run(settings);
      case "sentry" -> SentryObservers.run(settings);
      case "spans" -> new SpanRuns(settings, out).run();
      case "heaps" -> HeapSweep.run(Objects.requireNonNull(plan), settings);
      default -> throw new AssertionError(command);
    }
  }

  /** Says on the error stream what is going on. */
  static void progress(String what) {
    System.err.println("# " + what);
  }

  private static void machine() throws IOException {
    String cpu = "unknown";
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      cpu =
          lines
              .filter(line -> line.startsWith("model name"))
              .map(line -> line.substring(line.indexOf(':') + 2))
              .findFirst()
              .orElse(cpu);
    }
    System.out.println(
        "Machine: "
            + Runtime.getRuntime().availableProcessors()
            + " x "
            + cpu
            + "; "
            + System.getProperty("os.name")
            + " "
            + System.getProperty("os.version")
            + "; "
            + Files.getFileStore(Scratch.root()).type()
            + "; JDK "
            + System.getProperty("java.vm.version")
            + "; load before "
            + Files.readString(Path.of("/proc/loadavg")).strip()
            + "\n");
  }
}
