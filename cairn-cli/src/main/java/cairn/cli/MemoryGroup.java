package cairn.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The control group that limits the memory of this process, as far as it is visible here.
 *
 * @param version {@code v1} or {@code v2}
 * @param directory of the group
 * @param limit name of the file with the limit
 * @param usage name of the file with what is in use
 * @param events name of the file that counts OOM kills
 */
record MemoryGroup(String version, Path directory, String limit, String usage, String events) {
  /** {@return the group; null if there is none, or /proc says nothing} */
  static @Nullable MemoryGroup of(Path systemRoot) {
    String groups = read(systemRoot.resolve("proc/self/cgroup"));
    if (groups == null) {
      return null;
    }
    List<String> lines = groups.lines().toList();
    for (String line : lines) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
        return new MemoryGroup(
            "v1",
            group(systemRoot.resolve("sys/fs/cgroup/memory"), parts[2], "memory.limit_in_bytes"),
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "memory.oom_control");
      }
    }
    for (String line : lines) {
      if (line.startsWith("0::")) {
        return new MemoryGroup(
            "v2",
            group(systemRoot.resolve("sys/fs/cgroup"), line.substring(3), "memory.events"),
            "memory.max",
            "memory.current",
            "memory.events");
      }
    }
    return null;
  }

  /** In a container the path is often that of the host; the group itself is then the mount. */
  private static Path group(Path mount, String path, String file) {
    Path group = mount.resolve(path.substring(path.startsWith("/") ? 1 : 0)).normalize();
    return group.startsWith(mount) && Files.exists(group.resolve(file)) ? group : mount;
  }

  /** {@return the file that counts OOM kills} */
  Path eventsFile() {
    return directory.resolve(events);
  }

  /** {@return processes of the group that the kernel killed for want of memory} */
  OptionalLong oomKills() {
    return counter(eventsFile(), "oom_kill");
  }

  /** {@return the limit in words} */
  String limitText() {
    return bytes(read(directory.resolve(limit)));
  }

  /** {@return what is in use, in words} */
  String usageText() {
    return bytes(read(directory.resolve(usage)));
  }

  /** {@return whether an OOM kill takes every process of the group; only v2 knows that} */
  boolean killsTogether() {
    return "1".equals(read(directory.resolve("memory.oom.group")));
  }

  /** {@return OOM kills of this kernel since it booted} */
  static OptionalLong nodeOomKills(Path systemRoot) {
    return counter(systemRoot.resolve("proc/vmstat"), "oom_kill");
  }

  private static OptionalLong counter(Path file, String name) {
    String text = read(file);
    if (text != null) {
      for (String line : text.lines().toList()) {
        if (line.startsWith(name + " ")) {
          try {
            return OptionalLong.of(Long.parseLong(line.substring(name.length() + 1).strip()));
          } catch (NumberFormatException e) {
            return OptionalLong.empty();
          }
        }
      }
    }
    return OptionalLong.empty();
  }

  private static String bytes(@Nullable String text) {
    if (text == null) {
      return "unknown";
    }
    try {
      long value = Long.parseLong(text);
      // What v1 says for "no limit": the largest multiple of the page size.
      return value >= 1L << 60 ? "none" : Units.size(value);
    } catch (NumberFormatException e) {
      return text.equals("max") ? "none" : text;
    }
  }

  private static @Nullable String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      return null;
    }
  }
}
