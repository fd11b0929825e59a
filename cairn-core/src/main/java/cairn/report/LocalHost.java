package cairn.report;

import cairn.storage.HostId;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The facts of this machine, read at each call. On other systems than Linux most are unknown. */
final class LocalHost implements HostFacts {
  private static final int HEAD_BYTES = 64 * 1024;

  @Override
  public Instant now() {
    return Instant.now();
  }

  @Override
  public @Nullable String bootId() {
    String id = read(Path.of("/proc/sys/kernel/random/boot_id"));
    return id == null || id.isBlank() ? null : id.strip();
  }

  @Override
  public @Nullable Instant bootedAt() {
    OptionalLong seconds = field("/proc/stat", "btime");
    try {
      return seconds.isPresent() ? Instant.ofEpochSecond(seconds.getAsLong()) : null;
    } catch (DateTimeException e) {
      return null;
    }
  }

  @Override
  public @Nullable String hostName() {
    String name = read(Path.of("/proc/sys/kernel/hostname"));
    if (name == null || name.isBlank()) {
      name = System.getenv("HOSTNAME");
    }
    if (name == null || name.isBlank()) {
      name = System.getenv("COMPUTERNAME");
    }
    return name == null || name.isBlank() ? null : name.strip();
  }

  @Override
  public OptionalLong nodeOomKills() {
    return field("/proc/vmstat", "oom_kill");
  }

  @Override
  public OptionalLong memoryBytes() {
    OptionalLong kib = field("/proc/meminfo", "MemTotal:");
    return kib.isPresent() ? OptionalLong.of(kib.getAsLong() * 1024) : kib;
  }

  @Override
  public OptionalLong cgroupOomKills(String directory, long inode) {
    try {
      Path cgroup = Path.of(directory);
      if (!cgroup.isAbsolute() || inode(cgroup) != inode) {
        return OptionalLong.empty();
      }
      for (String name : List.of("memory.events", "memory.oom_control")) {
        OptionalLong kills = field(cgroup.resolve(name).toString(), "oom_kill");
        if (kills.isPresent()) {
          return kills;
        }
      }
    } catch (IOException | InvalidPathException | SecurityException e) {
      return OptionalLong.empty(); // gone, as it is once its container is
    }
    return OptionalLong.empty();
  }

  private static long inode(Path directory) throws IOException {
    try {
      return Files.getAttribute(directory, "unix:ino") instanceof Long inode ? inode : -1;
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      return -1;
    }
  }

  @Override
  public @Nullable String hostId() {
    return HostId.ofThisMachine();
  }

  @Override
  public boolean isAlive(long pid, long start, String pidNamespace) {
    try {
      if (!Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().equals(pidNamespace)) {
        return false;
      }
    } catch (IOException | SecurityException | UnsupportedOperationException e) {
      return false;
    }
    String stat = read(Path.of("/proc/" + pid + "/stat"));
    if (stat == null) {
      return false;
    }
    // Behind the command's closing parenthesis: field 3, the state; field 22, the start.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
    return fields.length > 19
        && !fields[0].equals("Z")
        && !fields[0].equals("X")
        && fields[19].equals(Long.toString(start));
  }

  @Override
  public @Nullable HostFile file(Path path) {
    try {
      if (!Files.isRegularFile(path)) {
        return null;
      }
      String head = read(path);
      return head == null ? null : new HostFile(Files.getLastModifiedTime(path).toInstant(), head);
    } catch (IOException | SecurityException e) {
      return null;
    }
  }

  @Override
  public CrashFile.@Nullable Dated crashFile(Path path) {
    try {
      if (!Files.isRegularFile(path)) {
        return null;
      }
      Instant modified = Files.getLastModifiedTime(path).toInstant();
      try (InputStream in = Files.newInputStream(path)) {
        return new CrashFile.Dated(modified, CrashFile.read(in));
      }
    } catch (IOException | SecurityException e) {
      return null;
    }
  }

  @Override
  public @Nullable HeapDump heapDump(Path path) {
    return HeapDump.read(path);
  }

  @Override
  public @Nullable PerfData counters(Salvage run) {
    Path file = PerfCopy.find(run, this);
    return file == null ? null : PerfCopy.read(file);
  }

  /** {@return the number behind {@code name} at the beginning of a line} */
  private static OptionalLong field(String file, String name) {
    String text = read(Path.of(file));
    if (text == null) {
      return OptionalLong.empty();
    }
    for (String line : text.split("\n", -1)) {
      String[] words = line.strip().split("\\s+", -1);
      if (words.length >= 2 && words[0].equals(name)) {
        try {
          return OptionalLong.of(Long.parseLong(words[1]));
        } catch (NumberFormatException e) {
          return OptionalLong.empty();
        }
      }
    }
    return OptionalLong.empty();
  }

  private static @Nullable String read(Path file) {
    return read(file, HEAD_BYTES);
  }

  /** {@return the beginning of a file, or null} */
  static @Nullable String read(Path file, int limit) {
    try (InputStream in = Files.newInputStream(file)) {
      return new String(in.readNBytes(limit), StandardCharsets.UTF_8);
    } catch (IOException | SecurityException e) {
      return null;
    }
  }
}
