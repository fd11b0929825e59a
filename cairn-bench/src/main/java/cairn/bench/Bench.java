package cairn.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runs the measurements and prints a Markdown table for each.
 *
 * <p>Arguments: {@code record | peers | latency | startup | cold | footprint | all}, then {@code
 * --quick} (directional, all of them in under three minutes), {@code --rounds N}, {@code --patience
 * SECONDS} (how long to wait, in all, for a machine that others use to be quiet). Files go to
 * {@code java.io.tmpdir}, which must lie on the disk to be measured, and are deleted afterwards.
 */
public final class Bench {
  private static final List<String> COMMANDS =
      List.of("record", "peers", "latency", "startup", "cold", "footprint");

  private Bench() {}

  /** Exits with 0, or 1 if a measurement measured nothing real, or 2 on wrong usage. */
  public static void main(String[] args) throws Exception {
    List<String> rest = new ArrayList<>(List.of(args));
    boolean quick = rest.remove("--quick");
    int rounds = option(rest, "--rounds", quick ? 1 : 3);
    int patience = option(rest, "--patience", 0);
    String command = rest.size() == 1 ? rest.get(0) : "";
    if (!command.equals("all") && !COMMANDS.contains(command)) {
      System.err.println(
          "usage: bench record|peers|latency|startup|cold|footprint|all [--quick] [--rounds N]"
              + " [--patience SECONDS]");
      System.exit(2);
    }
    Settings settings = new Settings(quick, rounds, new Patience(patience));
    machine();
    for (String name : command.equals("all") ? COMMANDS : List.of(command)) {
      System.out.println("## " + name + "\n");
      run(name, settings);
    }
  }

  private static int option(List<String> args, String name, int otherwise) {
    int at = args.indexOf(name);
    if (at < 0 || at + 1 == args.size()) {
      return otherwise;
    }
    args.remove(at);
    return Integer.parseInt(args.remove(at));
  }

  private static void run(String command, Settings settings) throws Exception {
    switch (command) {
      case "record" -> new RecordRuns(settings).record();
      case "peers" -> new RecordRuns(settings).peers();
      case "latency" -> LatencyHarness.run(settings);
      case "startup" -> StartupHarness.run(settings);
      case "cold" -> ColdStart.run(settings);
      case "footprint" -> FootprintHarness.run(settings);
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
