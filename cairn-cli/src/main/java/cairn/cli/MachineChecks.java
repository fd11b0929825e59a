package cairn.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What {@code doctor} asks about the JVM and the kernel. Changes nothing. */
final class MachineChecks {
  private final Surroundings surroundings;
  private final Path proc;

  MachineChecks(Surroundings surroundings) {
    this.surroundings = surroundings;
    this.proc = surroundings.systemRoot().resolve("proc");
  }

  /** {@return null if the recorder chooses itself, as it does by default} */
  @Nullable Check mode() {
    String name = "mode";
    String mode = surroundings.setting("mode");
    if (mode == null || mode.equals("auto")) {
      return null;
    }
    String remedy = "unset cairn.mode and CAIRN_MODE";
    return switch (mode.toLowerCase(Locale.ROOT)) {
      case "off" -> Check.problem(name, "off: nothing is recorded", remedy);
      case "copy" ->
          Check.warn(
              name, "copy: a death takes what was recorded since the last copy, a second", remedy);
      case "mapped" -> Check.warn(name, "mapped: also where it is not known to be safe", remedy);
      default ->
          Check.problem(
              name,
              "unknown: cairn.mode=" + mode + ": nothing is recorded",
              "use auto, mapped, copy or off");
    };
  }

  Check java() {
    return Check.ok(
        "java",
        property("java.version") + " (" + property("java.vendor") + "); 17 or later is needed");
  }

  private String property(String name) {
    return surroundings.properties().getProperty(name, "unknown");
  }

  /** Only what every JVM started here shares can be seen, not an application's own options. */
  Check crashFile() {
    String name = "crash file";
    for (String variable : List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")) {
      String options = surroundings.variables().getOrDefault(variable, "");
      int start = options.indexOf("-XX:ErrorFile=");
      if (start >= 0) {
        String file = options.substring(start + "-XX:ErrorFile=".length()).split("\\s", 2)[0];
        return Check.ok(name, "hs_err goes to " + file + " (" + variable + ")");
      }
    }
    return Check.ok(
        name,
        "hs_err_pid<pid>.log goes to the application's working directory, else to "
            + property("java.io.tmpdir"));
  }

  Check corePattern() {
    String name = "core dumps";
    String pattern = read(proc.resolve("sys/kernel/core_pattern"));
    if (pattern == null) {
      return notHere(name, "core dumps are up to the system");
    }
    return Check.ok(
        name,
        pattern.startsWith("|")
            ? "piped to " + pattern.substring(1).split(" ", 2)[0]
            : "pattern " + pattern);
  }

  Check oomCounter() {
    String name = "oom counter";
    String vmstat = read(proc.resolve("vmstat"));
    if (vmstat != null) {
      for (String line : vmstat.lines().toList()) {
        if (line.startsWith("oom_kill ")) {
          return Check.ok(
              name, "/proc/vmstat readable, " + line.substring(9).trim() + " OOM kills since boot");
        }
      }
    }
    if (!isLinux()) {
      return notHere(name, "an OOM kill shows as KILLED");
    }
    return Check.warn(
        name,
        "/proc/vmstat has no readable oom_kill",
        "without it an OOM kill shows as KILLED; Linux 4.13 or later has it, some sandboxes hide it");
  }

  Check memory() {
    String name = "memory limit";
    String cgroups = read(proc.resolve("self/cgroup"));
    if (cgroups == null) {
      return notHere(name, "no control groups here");
    }
    for (String line : cgroups.lines().toList()) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
        return cgroup(
            name,
            "v1",
            group("sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"),
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "memory.oom_control");
      }
    }
    for (String line : cgroups.lines().toList()) {
      if (line.startsWith("0::")) {
        return cgroup(
            name,
            "v2",
            group("sys/fs/cgroup", line.substring(3), "memory.events"),
            "memory.max",
            "memory.current",
            "memory.events");
      }
    }
    return Check.warn(
        name, "no memory control group", "an OOM kill is told from the node's counter");
  }

  /** In a container the path is often that of the host; the group itself is then the mount. */
  private Path group(String mount, String path, String file) {
    Path base = surroundings.systemRoot().resolve(mount);
    Path group = base.resolve(path.substring(path.startsWith("/") ? 1 : 0)).normalize();
    return group.startsWith(base) && Files.exists(group.resolve(file)) ? group : base;
  }

  private static Check cgroup(
      String name, String version, Path group, String limit, String usage, String events) {
    String used = read(group.resolve(usage));
    String counters = read(group.resolve(events));
    if (counters == null || !counters.contains("oom_kill ")) {
      return Check.warn(
          name,
          "cgroup " + version + " shows no oom_kill in " + group.resolve(events),
          "an OOM kill is told from the node's counter and the usage near the limit");
    }
    String max = read(group.resolve(limit));
    return Check.ok(name, "cgroup " + version + ", limit " + bytes(max) + ", used " + bytes(used));
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

  private Check notHere(String name, String consequence) {
    return isLinux()
        ? Check.warn(name, "/proc is not readable", consequence + " (mount /proc)")
        : Check.ok(name, "not on " + property("os.name") + ": " + consequence);
  }

  private boolean isLinux() {
    return property("os.name").toLowerCase(Locale.ROOT).contains("linux");
  }

  private static @Nullable String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      return null;
    }
  }
}
