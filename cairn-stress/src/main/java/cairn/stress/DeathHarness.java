package cairn.stress;

import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Evidence;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.Verdict;
import cairn.report.Witness;
import cairn.stress.Death.Grade;
import cairn.stress.Death.Launch;
import cairn.stress.Death.Needs;
import cairn.stress.Death.Reading;
import cairn.stress.Death.View;
import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Kills victims in every way of the {@link DeathCatalogue}, on each Java that is installed, and
 * compares what their reports say with what was done to them.
 *
 * <p>Prints what was wrong, with the evidence, and a last line with the sums; exits 1 if anything
 * was wrong. What belongs to a wrong verdict is kept.
 *
 * <p>Options: {@code --deaths N} (one of each), {@code --seed N} (random), {@code --parallel N}
 * (2), {@code --only TEXT} (those whose name has it), {@code --markdown FILE} (gets the confusion
 * matrix), {@code --dir DIR}, {@code --quiet}.
 */
public final class DeathHarness implements AutoCloseable {
  private static final int MAX_KEPT = 20;
  private static final Witness WATCHER = Witness.by("watch");

  private final Path directory;
  private final Path tools;
  private final PrintStream out;
  private final Map<Jdk, Launcher> launchers = new HashMap<>();
  private final List<Jdk> jdks;
  private final Optional<SteppedClock> clock;
  private final DeathMachine machine;
  private final AtomicInteger numbers = new AtomicInteger();
  private final AtomicInteger kept = new AtomicInteger();

  /**
   * What one death left.
   *
   * @param death how it died
   * @param jdk on which Java
   * @param home what belongs to it, the root of its run and an hs_err file included
   * @param run that it left
   * @param status its exit status, as the parent saw it; -1 if it lives
   * @param verdicts by who judges
   * @param report as the one who judges alone has it; null where another process read it
   * @param log what it wrote to its standard error
   */
  record Dead(
      Death death,
      Jdk jdk,
      Path home,
      Run run,
      int status,
      Map<View, Verdict> verdicts,
      Report report,
      String log) {
    /** {@return the worst of what the verdicts are} */
    Grade grade() {
      Grade worst = Grade.RIGHT;
      for (Map.Entry<View, Verdict> verdict : verdicts.entrySet()) {
        Grade grade = death.grade(verdict.getKey(), verdict.getValue());
        worst = grade.compareTo(worst) > 0 ? grade : worst;
      }
      return worst;
    }

    String text() {
      StringBuilder text = new StringBuilder();
      text.append(grade()).append(": ").append(death.name);
      text.append(" (").append(death.truth).append("), JDK ").append(jdk.feature());
      text.append(", status=").append(status).append(", kept=").append(home);
      for (Map.Entry<View, Verdict> entry : verdicts.entrySet()) {
        Verdict verdict = entry.getValue();
        text.append("\n  ").append(entry.getKey().text).append(": ");
        text.append(death.grade(entry.getKey(), verdict)).append(' ').append(verdict.cause());
        text.append(' ').append(verdict.confidence()).append("\n    ").append(verdict.headline());
        for (Evidence evidence : verdict.evidence()) {
          text.append("\n    ").append(evidence.kind()).append(": ").append(evidence.text());
        }
      }
      return text.toString();
    }
  }

  /**
   * What to do.
   *
   * @param deaths how many; 0 for one of each
   * @param seed of every choice
   * @param parallel victims at a time
   * @param only those whose name has it
   * @param quiet whether to print what is right only in sums
   */
  public record Options(int deaths, long seed, int parallel, String only, boolean quiet) {
    static Options of(Map<String, String> named) {
      return new Options(
          Integer.parseInt(named.getOrDefault("deaths", "0")),
          Long.parseLong(named.getOrDefault("seed", Long.toString(System.nanoTime()))),
          Integer.parseInt(named.getOrDefault("parallel", "2")),
          named.getOrDefault("only", ""),
          named.containsKey("quiet"));
    }
  }

  /**
   * Makes one ready.
   *
   * @param directory gets everything; what no wrong verdict needs is deleted again
   * @param out gets what can't be done on this machine
   */
  DeathHarness(Path directory, PrintStream out) throws IOException, InterruptedException {
    this.directory = directory;
    this.out = out;
    this.jdks = Jdk.installed();
    this.tools = Files.createTempDirectory(directory, "tools");
    for (Jdk jdk : jdks) {
      Path own = Files.createDirectory(tools.resolve("jdk-" + jdk.feature()));
      launchers.put(jdk, Launcher.fast(own, jdk.home(), DeathHarness::rehearse));
    }
    this.clock = SteppedClock.compile(tools);
    this.machine = new DeathMachine(jdks, clock, out);
  }

  /** Runs with the options of the command line. */
  public static void main(String[] args) throws Exception {
    Map<String, String> named = new HashMap<>();
    for (int i = 0; i < args.length; i++) {
      String name = args[i].replaceFirst("^--", "");
      boolean isFlag = name.equals("quiet");
      if (!isFlag && (args[i].equals(name) || i + 1 == args.length)) {
        System.err.println("unknown option or no value: " + args[i]);
        System.exit(2);
      }
      named.put(name, isFlag ? "" : args[++i]);
    }
    Path directory =
        named.containsKey("dir")
            ? Files.createDirectories(Path.of(named.get("dir")))
            : Files.createTempDirectory("cairn-deaths");
    DeathMatrix matrix = run(Options.of(named), directory, System.out);
    if (named.containsKey("markdown")) {
      Files.writeString(Path.of(named.get("markdown")), matrix.toMarkdown());
    }
    System.exit(matrix.isRight() ? 0 : 1);
  }

  /**
   * Has as many die as the options say.
   *
   * @param directory gets everything; what no wrong verdict needs is deleted again
   * @param out gets what is wrong, and the sums
   */
  public static DeathMatrix run(Options options, Path directory, PrintStream out)
      throws IOException, InterruptedException {
    try (DeathHarness harness = new DeathHarness(directory, out)) {
      return harness.run(options);
    }
  }

  private DeathMatrix run(Options options) throws InterruptedException {
    long begin = System.nanoTime();
    Random random = new Random(options.seed());
    DeathMatrix matrix = new DeathMatrix();
    List<Death> possible = new ArrayList<>();
    for (Death death : DeathCatalogue.all()) {
      if (death.name.contains(options.only())) {
        if (machine.jdksFor(death).isEmpty()) {
          matrix.notRun(death);
        } else {
          possible.add(death);
        }
      }
    }
    int count = options.deaths() == 0 ? possible.size() : options.deaths();
    out.println("seed=" + options.seed() + " deaths=" + count);
    ExecutorService lanes = Executors.newFixedThreadPool(options.parallel());
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int round = 0; ends.size() < count; round++) {
        List<Death> order = new ArrayList<>(possible);
        Collections.shuffle(order, random);
        for (Death death : order.subList(0, Math.min(order.size(), count - ends.size()))) {
          List<Jdk> on = machine.jdksFor(death);
          Jdk jdk = on.get((round + possible.indexOf(death)) % on.size());
          long seed = random.nextLong();
          ends.add(lanes.submit(() -> dieAndCount(death, jdk, seed, options, matrix)));
        }
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("harness failed: seed=" + options.seed(), e.getCause());
    } finally {
      lanes.shutdownNow();
      lanes.awaitTermination(1, TimeUnit.MINUTES);
    }
    matrix.seconds((System.nanoTime() - begin) / 1_000_000_000);
    out.println(matrix.toText());
    out.println(matrix + " seed=" + options.seed());
    return matrix;
  }

  private void dieAndCount(Death death, Jdk jdk, long seed, Options options, DeathMatrix matrix) {
    try {
      Dead dead = die(death, jdk, seed);
      matrix.add(dead);
      if (dead.grade().compareTo(Grade.BAD_GUESS) >= 0 && kept.incrementAndGet() <= MAX_KEPT) {
        out.println(dead.text());
      } else {
        if (!options.quiet()) {
          out.println(line(dead));
        }
        VictimProcess.delete(dead.home());
      }
    } catch (IOException | RuntimeException e) {
      out.println("BROKEN: " + death.name + ", JDK " + jdk.feature() + ": " + e);
      matrix.broken(death);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String line(Dead dead) {
    StringBuilder text = new StringBuilder();
    text.append(String.format(Locale.ROOT, "%-10s %s", dead.grade(), dead.death().name));
    text.append(", JDK ").append(dead.jdk().feature()).append(", ").append(dead.status());
    dead.verdicts()
        .forEach(
            (view, v) -> text.append(" | ").append(v.cause()).append(' ').append(v.confidence()));
    return text.toString();
  }

  /** {@return the Javas on which that death can be had here; none if the machine can't} */
  List<Jdk> jdksFor(Death death) {
    return machine.jdksFor(death);
  }

  /** Has a victim die, and judges what it left. */
  Dead die(Death death, Jdk jdk, long seed) throws IOException, InterruptedException {
    Path home =
        Files.createDirectory(
            directory.resolve(
                String.format(
                    Locale.ROOT,
                    "%03d-%s",
                    numbers.incrementAndGet(),
                    death.name.replaceAll("[^A-Za-z0-9]+", "-"))));
    Random random = new Random(seed);
    if (death.predecessor != null) {
      dieAt(home, death.predecessor, jdk, random);
    }
    return dieAt(home, death, jdk, random);
  }

  private Dead dieAt(Path home, Death death, Jdk jdk, Random random)
      throws IOException, InterruptedException {
    Path root = home.resolve("root");
    Path log = home.resolve("log-" + numbers.incrementAndGet());
    Set<String> before = new HashSet<>();
    for (Run run : runs(root)) {
      before.add(run.id());
    }
    Dead dead;
    MemoryGroup group =
        death.limitMebibytes == 0 ? null : MemoryGroup.create(death.limitMebibytes << 20);
    try (Child child = Child.start(command(death, jdk, home, root, group), log)) {
      Run run = started(death, child, root, before);
      Dying dying = new Dying(child, pid(death, child), group, random);
      death.act.on(dying);
      int status = -1;
      if (death.truth != Cause.RUNNING) {
        status = child.awaitEnd();
      }
      if (death.successor != null) {
        dieAt(home, death.successor, jdk, random);
      }
      EnumMap<View, Verdict> verdicts = new EnumMap<>(View.class);
      Report report = null;
      if (death.reading == Reading.HERE) {
        report = run.report();
        verdicts.put(View.ALONE, report.verdict());
      } else {
        verdicts.put(View.ALONE, readFrom(death.reading, jdk, home, root, run));
      }
      if (status >= 0 && death.reading == Reading.HERE) {
        // unshare passes the status of its child on, but not its signal.
        if (!isChild(death) || death.truth != Cause.KILLED) {
          Witness parent = Witness.by("run").exitStatus(status);
          verdicts.put(View.STATUS, run.report(parent).verdict());
        }
        run.witness(WATCHER);
      }
      if (death.truth == Cause.RUNNING) {
        dying.kill();
        child.awaitEnd();
      }
      dead = new Dead(death, jdk, home, run, status, verdicts, report, child.log());
    } finally {
      if (group != null) {
        group.close();
      }
    }
    if (dead.status() >= 0 && death.reading == Reading.HERE) {
      // Whatever only the living knew is gone now, but for what the watcher wrote down.
      dead.verdicts().put(View.WATCHED, dead.run().report().verdict());
      if (group != null) {
        forgetWhatWasSeen(dead.run());
        dead.verdicts().put(View.LATER, dead.run().report().verdict());
      }
    }
    return dead;
  }

  private static void forgetWhatWasSeen(Run run) throws IOException {
    for (String file : List.of("death-watch", "hs_err.log", "hsperfdata")) {
      Files.deleteIfExists(run.directory().resolve(file));
    }
  }

  private static List<Run> runs(Path root) throws IOException {
    return Files.isDirectory(root) ? Runs.under(root).list() : List.of();
  }

  private static Run started(Death death, Child child, Path root, Set<String> before)
      throws IOException, InterruptedException {
    if (!death.isEarly) {
      String line = child.readLine();
      if (!line.equals("ready")) {
        throw new IOException("victim is not ready: line=" + line + ", log=" + child.log());
      }
    }
    while (true) {
      for (Run run : runs(root)) {
        if (!before.contains(run.id())) {
          return run;
        }
      }
      child.liveOn(1);
    }
  }

  /** {@return whether it is the child of what is started: a namespace has another first process} */
  private static boolean isChild(Death death) {
    return death.launch == Launch.FIRST_PROCESS || death.launch == Launch.OTHER_CLOCK;
  }

  private static long pid(Death death, Child child) throws IOException {
    if (!isChild(death)) {
      return child.pid();
    }
    return ProcessHandle.of(child.pid())
        .flatMap(outer -> outer.children().findFirst())
        .orElseThrow(() -> new IOException("no process in the namespace"))
        .pid();
  }

  private List<String> command(Death death, Jdk jdk, Path home, Path root, MemoryGroup group) {
    List<String> command = new ArrayList<>();
    String enter = group == null ? "" : group.enterCommand() + " && ";
    if (death.needs == Needs.COMPILER) {
      long seconds = death.launch == Launch.CLOCK_SET_BACK ? -3_600 : 3_600;
      enter += clock.orElseThrow().stepBy(seconds) + " && ";
    }
    command.addAll(
        List.of("sh", "-c", "ulimit -c 0; cd '" + home + "' && " + enter + "exec \"$@\"", "sh"));
    command.addAll(
        switch (death.launch) {
          case PLAIN, CLOCK_SET_BACK, CLOCK_SET_AHEAD -> List.<String>of();
          case FIRST_PROCESS ->
              List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc");
          case OTHER_CLOCK ->
              List.of(
                  "unshare",
                  "--time",
                  "--fork",
                  "--kill-child",
                  "--monotonic",
                  "1000000",
                  "--boottime",
                  "1000000");
        });
    Launcher launcher = launcher(jdk);
    command.add(launcher.java().toString());
    command.addAll(launcher.options());
    if (!death.options.contains("-XX:ErrorFile=")) {
      command.add("-XX:ErrorFile=" + home.resolve("hs_err_pid%p.log"));
    }
    for (String option : death.options) {
      if (!option.equals("-XX:ErrorFile=")) {
        command.add(option.replace("%h", home.toString()));
      }
    }
    command.addAll(List.of("-cp", launcher.classPath(), DeathVictim.class.getName()));
    command.add(root.toString());
    command.addAll(List.of(death.way.split(" ", -1)));
    return command;
  }

  private Launcher launcher(Jdk jdk) {
    Launcher launcher = launchers.get(jdk);
    if (launcher == null) {
      throw new IllegalArgumentException("no such Java here: jdk=" + jdk);
    }
    return launcher;
  }

  private static void rehearse(Launcher launcher, Path directory)
      throws IOException, InterruptedException {
    try (Child child =
        launcher.start(
            DeathVictim.class, directory.resolve("log"), directory.toString(), "return")) {
      child.readLine();
      child.end("go");
    }
    for (Run run : Runs.under(directory)) {
      try (Child reader =
          launcher.start(
              DeathReader.class, directory.resolve("log"), directory.toString(), run.id())) {
        reader.awaitEnd();
      }
    }
  }

  // Elsewhere

  private Verdict readFrom(Reading from, Jdk jdk, Path home, Path root, Run run)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    if (from == Reading.OTHER_CONTAINER) {
      command.addAll(List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"));
    } else {
      command.addAll(List.of("unshare", "--mount", "--uts", "sh", "-c"));
      command.add(disguise(from, home) + " && exec \"$@\"");
      command.add("sh");
    }
    Launcher launcher = launcher(jdk);
    command.add(launcher.java().toString());
    command.addAll(launcher.options());
    command.addAll(List.of("-cp", launcher.classPath(), DeathReader.class.getName()));
    command.addAll(List.of(root.toString(), run.id()));
    Path said = home.resolve("said");
    Path log = home.resolve("said.log");
    Process reader =
        new ProcessBuilder(command)
            .redirectOutput(said.toFile())
            .redirectError(log.toFile())
            .start();
    if (!reader.waitFor(1, TimeUnit.MINUTES) || reader.exitValue() != 0) {
      reader.destroyForcibly();
      throw new IOException("reader failed: log=" + Files.readString(log));
    }
    List<String> lines = Files.readAllLines(said, StandardCharsets.UTF_8);
    String[] words = lines.get(0).split(" ", -1);
    return new Verdict(
        Cause.valueOf(words[0]),
        Confidence.valueOf(words[1]),
        lines.get(1),
        List.of(
            new Evidence(Evidence.Kind.FOR, String.join("\n", lines.subList(1, lines.size())))));
  }

  /** {@return the shell command that makes this machine look like another one} */
  private static String disguise(Reading as, Path home) throws IOException {
    Path bootId = home.resolve("boot_id");
    Files.writeString(bootId, "0b5ec7ed-0000-4000-8000-000000000001\n");
    String command = "mount --bind '" + bootId + "' /proc/sys/kernel/random/boot_id";
    if (as == Reading.AFTER_REBOOT) {
      Path stat = home.resolve("stat");
      Files.writeString(
          stat,
          Files.readString(Path.of("/proc/stat"))
              .replaceAll("btime \\d+", "btime " + Instant.now().getEpochSecond()));
      Path vmstat = home.resolve("vmstat");
      Files.writeString(
          vmstat,
          Files.readString(Path.of("/proc/vmstat")).replaceAll("oom_kill \\d+", "oom_kill 0"));
      command += " && mount --bind '" + stat + "' /proc/stat";
      command += " && mount --bind '" + vmstat + "' /proc/vmstat";
    } else if (as == Reading.OTHER_MACHINE) {
      command += " && hostname another-machine";
    }
    return command;
  }

  /** Deletes what made victims start fast. */
  @Override
  public void close() throws IOException {
    VictimProcess.delete(tools);
  }
}
