package cairn.stress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A memory cgroup with a limit, below the one that this process is in. Any thread.
 *
 * <p>Version 1, and version 2 where the memory controller is delegated to this process's group.
 */
final class MemoryGroup implements AutoCloseable {
  private static final AtomicInteger NUMBERS = new AtomicInteger();
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Path directory;
  private final boolean unified;

  private MemoryGroup(Path directory, boolean unified) {
    this.directory = directory;
    this.unified = unified;
  }

  /** {@return why this process can make none, or empty if it can} */
  static Optional<String> refusal() {
    try {
      create(64 << 20).close();
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(e.toString());
    }
  }

  /**
   * Makes one.
   *
   * @param limitBytes of memory; swap is out of reach as well
   */
  static MemoryGroup create(long limitBytes) throws IOException {
    String name = "cairn-deaths-" + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();
    MemoryGroup group = null;
    for (String line : Files.readAllLines(Path.of("/proc/self/cgroup"))) {
      String[] fields = line.split(":", 3);
      if (List.of(fields[1].split(",", -1)).contains("memory")) {
        group = new MemoryGroup(below("/sys/fs/cgroup/memory", fields[2], name), false);
      } else if (fields[0].equals("0") && group == null) {
        group = new MemoryGroup(below("/sys/fs/cgroup", fields[2], name), true);
      }
    }
    if (group == null) {
      throw new IOException("this process is in no memory cgroup");
    }
    Files.createDirectory(group.directory);
    try {
      if (group.unified) {
        Files.writeString(group.directory.resolve("memory.max"), Long.toString(limitBytes));
        group.writeIfThere("memory.swap.max", "0");
      } else {
        Files.writeString(
            group.directory.resolve("memory.limit_in_bytes"), Long.toString(limitBytes));
        group.writeIfThere("memory.memsw.limit_in_bytes", Long.toString(limitBytes));
      }
      return group;
    } catch (IOException e) {
      group.close();
      throw e;
    }
  }

  private static Path below(String mount, String group, String name) {
    return Path.of(mount + (group.equals("/") ? "" : group)).resolve(name);
  }

  private void writeIfThere(String file, String text) throws IOException {
    if (Files.exists(directory.resolve(file))) {
      Files.writeString(directory.resolve(file), text);
    }
  }

  /** {@return the shell command that moves the shell into it} */
  String enterCommand() {
    return "echo $$ > '" + directory.resolve("cgroup.procs") + "'";
  }

  /** {@return how many processes the kernel killed in it for want of memory} */
  long oomKills() throws IOException {
    Path file = directory.resolve(unified ? "memory.events" : "memory.oom_control");
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("oom_kill ")) {
        return Long.parseLong(line.substring("oom_kill ".length()).strip());
      }
    }
    throw new IOException("no OOM kills counted: file=" + file);
  }

  @Override
  public String toString() {
    return directory.toString();
  }

  /** Removes it, once the last of its processes is gone. */
  @Override
  public void close() throws IOException {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      try {
        Files.deleteIfExists(directory);
        return;
      } catch (IOException e) {
        if (System.nanoTime() - end > 0) {
          throw e;
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
      }
    }
  }
}
