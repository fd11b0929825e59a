package cairn.stress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A running {@link DeathVictim}, in the hands of the one who started it. One thread. */
final class Dying {
  /** Long enough for a sample of the vitals to be taken meanwhile. */
  static final long SAMPLE_MILLIS = 1_300;

  private static final long PATIENCE_SECONDS = 20;

  private final Child child;
  private final long pid;
  private final MemoryGroup group;
  private final Random random;

  /**
   * What a new one is.
   *
   * @param child what was started: the victim, or what it is the child of
   * @param pid of the victim, as seen from here
   */
  Dying(Child child, long pid, MemoryGroup group, Random random) {
    this.child = child;
    this.pid = pid;
    this.group = group;
    this.random = random;
  }

  /** Tells it to do what its way says. */
  void go() throws IOException {
    child.send("go");
  }

  /** Waits until it says so. */
  void await(String line) throws IOException {
    String said = child.readLine();
    if (!said.equals(line)) {
      throw new IOException("victim says something else: expected=" + line + ", line=" + said);
    }
  }

  /** Lets it live on for so long, or until it dies. */
  void live(long millis) throws InterruptedException {
    child.diesWithin(millis);
  }

  /** Lets it live on for a random while. */
  void liveUpTo(int millis) throws InterruptedException {
    live(random.nextInt(millis));
  }

  /** Sends a signal to it. */
  void signal(String name) throws IOException, InterruptedException {
    run(List.of("kill", "-" + name, Long.toString(pid)));
  }

  /** Kills it. */
  void kill() throws IOException, InterruptedException {
    signal("KILL");
  }

  /** Has the kernel kill another process, in a cgroup of its own, for want of memory. */
  void killByMemoryElsewhere() throws IOException, InterruptedException {
    try (MemoryGroup other = MemoryGroup.create(16 << 20)) {
      hog(other, 64);
      if (other.oomKills() != 1) {
        throw new IOException("no OOM kill elsewhere: kills=" + other.oomKills());
      }
    }
  }

  /**
   * Runs a process in the victim's cgroup that takes so much memory at once.
   *
   * @return whether the kernel killed that process
   */
  boolean hog(int mebibytes) throws IOException, InterruptedException {
    if (group == null) {
      throw new IllegalStateException("no cgroup");
    }
    return hog(group, mebibytes);
  }

  /** As {@link #hog}, by a process that is there for a while before, and that is killed. */
  void neighbour(int mebibytes, long millisBefore) throws IOException, InterruptedException {
    if (group == null || !hog(group, mebibytes, pause(millisBefore))) {
      throw new IOException("the neighbour was not killed: group=" + group);
    }
  }

  /** As {@link #neighbour}, by one that the kernel kills first, however small: a helper process. */
  void willingNeighbour(int mebibytes, long millisBefore) throws IOException, InterruptedException {
    String willing = "echo 1000 > /proc/self/oom_score_adj; ";
    if (group == null || !hog(group, mebibytes, willing + pause(millisBefore))) {
      throw new IOException("the neighbour was not killed: group=" + group);
    }
  }

  private static String pause(long millis) {
    return "sleep " + millis / 1000.0 + "; ";
  }

  private static boolean hog(MemoryGroup where, int mebibytes)
      throws IOException, InterruptedException {
    return hog(where, mebibytes, "");
  }

  private static boolean hog(MemoryGroup where, int mebibytes, String first)
      throws IOException, InterruptedException {
    String dd =
        first + "exec dd if=/dev/zero of=/dev/null count=1 bs=" + mebibytes + "M 2>/dev/null";
    return run(List.of("sh", "-c", where.enterCommand() + "; " + dd)) == 128 + 9;
  }

  /** Has the kernel refuse it more memory than it has now, but for so much. */
  void refuseMemory(int mebibytes) throws IOException, InterruptedException {
    for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
      if (line.startsWith("VmData:")) {
        long kibibytes = Long.parseLong(line.replaceAll("[^0-9]", ""));
        long limit = (kibibytes + 1024L * mebibytes) * 1024;
        int status = run(List.of("prlimit", "--pid", Long.toString(pid), "--data=" + limit));
        if (status != 0) {
          throw new IOException("prlimit failed: status=" + status);
        }
      }
    }
  }

  /** {@return how many processes the kernel killed in its cgroup} */
  long oomKills() throws IOException {
    if (group == null) {
      throw new IllegalStateException("no cgroup");
    }
    return group.oomKills();
  }

  /** {@return the exit status of a command that takes a moment} */
  static int run(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(Path.of("/dev/null").toFile())
            .start();
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException("command does not end: command=" + command);
    }
    return process.exitValue();
  }
}
