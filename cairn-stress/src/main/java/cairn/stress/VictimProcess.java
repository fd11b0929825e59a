package cairn.stress;

import cairn.Recorder;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** A running {@link Victim}, seen from the process that started it. One thread. */
public final class VictimProcess implements AutoCloseable {
  private final Plan plan;
  private final Path root;
  private final Oracle oracle;
  private final Child child;
  private final String mode;

  private VictimProcess(Plan plan, Path root, Oracle oracle, Child child) throws IOException {
    this.plan = plan;
    this.root = root;
    this.oracle = oracle;
    this.child = child;
    this.mode = child.readLine();
  }

  /**
   * How to start victims.
   *
   * @param java the command
   * @param classPath of the victim
   * @param options of the JVM
   */
  public record Launcher(Path java, String classPath, List<String> options) {
    /** {@return a launcher with this JVM's own Java and classes} */
    public static Launcher plain(String... options) {
      return new Launcher(
          javaOf(Path.of(System.getProperty("java.home"))),
          location(Recorder.class) + ":" + location(Victim.class),
          List.of(options));
    }

    /**
     * {@return a launcher whose victims start fast: their classes are in a class data archive}
     *
     * @param directory gets a jar and the archive
     */
    public static Launcher fast(Path directory) throws IOException, InterruptedException {
      return fast(
          directory,
          (launcher, rehearsal) -> {
            Plan plan = new Plan(1, 2, 64 << 10, 64, Scenario.MIXED);
            try (VictimProcess victim = launcher.start(plan, rehearsal, rehearsal)) {
              victim.record(2_000);
              victim.end("close");
            }
          });
    }

    /** What a process does once so that its classes are known. */
    interface Rehearsal {
      /** Starts a process with that launcher, in that directory, and ends it in an orderly way. */
      void run(Launcher launcher, Path directory) throws IOException, InterruptedException;
    }

    /** As {@link #fast(Path)}, for the classes that this rehearsal takes. */
    static Launcher fast(Path directory, Rehearsal rehearsal)
        throws IOException, InterruptedException {
      return fast(directory, Path.of(System.getProperty("java.home")), rehearsal);
    }

    /** As {@link #fast(Path, Rehearsal)}, with the Java of that home. */
    static Launcher fast(Path directory, Path javaHome, Rehearsal rehearsal)
        throws IOException, InterruptedException {
      // An archive takes classes from jars only.
      Path jar = directory.resolve("victim.jar");
      writeJar(jar, List.of(location(Recorder.class), location(Victim.class)));
      Path archive = directory.resolve("victim.jsa");
      List<String> common = List.of("-Xmx64m", "-XX:+UseSerialGC", "-Xlog:disable");
      List<String> dumping = new ArrayList<>(common);
      dumping.add("-XX:ArchiveClassesAtExit=" + archive);
      Path java = javaOf(javaHome);
      rehearsal.run(
          new Launcher(java, jar.toString(), dumping),
          Files.createDirectory(directory.resolve("rehearsal")));
      List<String> using = new ArrayList<>(common);
      using.add("-XX:SharedArchiveFile=" + archive);
      return new Launcher(java, jar.toString(), using);
    }

    /** {@return a launcher with those options added} */
    public Launcher with(String... more) {
      List<String> all = new ArrayList<>(options);
      all.addAll(List.of(more));
      return new Launcher(java, classPath, all);
    }

    /** {@return a launcher with the Java of that home} */
    public Launcher withJavaHome(Path home) {
      return new Launcher(javaOf(home), classPath, options);
    }

    /**
     * Starts a victim and waits until its recorder is open.
     *
     * @param root where it records
     * @param directory gets the oracle and what the victim writes to its standard error
     */
    public VictimProcess start(Plan plan, Path root, Path directory) throws IOException {
      Path oracleFile = directory.resolve("oracle-" + System.nanoTime());
      Path log = directory.resolve(oracleFile.getFileName() + ".log");
      Oracle oracle = Oracle.create(oracleFile, plan.threads());
      Child child =
          start(Victim.class, log, plan.toString(), root.toString(), oracleFile.toString());
      try {
        return new VictimProcess(plan, root, oracle, child);
      } catch (IOException e) {
        child.kill();
        throw e;
      }
    }

    /**
     * Starts a process.
     *
     * @param log gets what it writes to its standard error
     */
    Child start(Class<?> main, Path log, String... arguments) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(java.toString());
      command.addAll(options);
      // A victim that crashes must not leave its report in the working directory.
      command.add("-XX:ErrorFile=" + log.resolveSibling("hs_err_pid%p.log"));
      command.addAll(List.of("-cp", classPath, main.getName()));
      command.addAll(List.of(arguments));
      return Child.start(command, log);
    }

    private static Path javaOf(Path home) {
      return home.resolve("bin").resolve("java");
    }

    private static Path location(Class<?> type) {
      try {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
      } catch (URISyntaxException e) {
        throw new IllegalStateException(e);
      }
    }

    private static void writeJar(Path jar, List<Path> locations) throws IOException {
      try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
        for (Path location : locations) {
          if (Files.isDirectory(location)) {
            add(out, location);
          } else {
            try (FileSystem zip = FileSystems.newFileSystem(location)) {
              add(out, zip.getPath("/"));
            }
          }
        }
      }
    }

    private static void add(JarOutputStream out, Path top) throws IOException {
      try (Stream<Path> files = Files.walk(top)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          String name = top.relativize(file).toString();
          if (name.endsWith(".class") && !name.equals("module-info.class")) {
            out.putNextEntry(new JarEntry(name));
            Files.copy(file, out);
          }
        }
      }
    }
  }

  /** {@return the plan it follows} */
  public Plan plan() {
    return plan;
  }

  /** {@return the root directory it records under} */
  public Path root() {
    return root;
  }

  /** {@return how far it came} */
  public Oracle oracle() {
    return oracle;
  }

  /** {@return its process id} */
  public long pid() {
    return child.pid();
  }

  /** {@return whether its recorder is enabled, a space, and the recorder's mode} */
  public String mode() {
    return mode;
  }

  /** {@return whether its recorder is enabled} */
  public boolean isEnabled() {
    return mode.startsWith("enabled ");
  }

  /** Lets it record so many rounds on each thread, and waits for the end. */
  public void record(long rounds) throws IOException {
    child.obey("rounds " + rounds);
  }

  /** Lets it record without end, and waits until every thread has recorded. */
  public void recordForever() throws IOException, InterruptedException {
    child.send("forever");
    for (int t = 0; t < plan.threads(); t++) {
      while (oracle.returned(t, Oracle.Stream.CRUMBS) == 0) {
        child.liveOn(1);
      }
    }
  }

  /** Lets it live on for so long; throws if it dies meanwhile. */
  void liveOn(long millis) throws IOException, InterruptedException {
    child.liveOn(millis);
  }

  /** Kills it with SIGKILL, whatever it is doing, and waits for its death. */
  public void kill() {
    child.kill();
  }

  /** As {@link Child#signal}. */
  public void signal(String name) throws IOException, InterruptedException {
    child.signal(name);
  }

  /** As {@link Child#end}. */
  public int end(String command) throws IOException, InterruptedException {
    return child.end(command);
  }

  /** {@return what it wrote to its standard error} */
  public String log() throws IOException {
    return child.log();
  }

  /** Kills it if it lives. */
  @Override
  public void close() {
    kill();
  }

  /** Deletes a directory and everything in it. */
  static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
