package cairn.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What {@code doctor} asks about the JVM and the kernel. Changes nothing. */
final class MachineChecks {
  /** Where options for every JVM come from. */
  private static final List<String> OPTION_VARIABLES =
      List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

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
    for (String variable : OPTION_VARIABLES) {
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
    OptionalLong kills = MemoryGroup.nodeOomKills(surroundings.systemRoot());
    if (kills.isPresent()) {
      return Check.ok(
          name, "/proc/vmstat readable, " + kills.getAsLong() + " OOM kills since boot");
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
    if (read(proc.resolve("self/cgroup")) == null) {
      return notHere(name, "no control groups here");
    }
    MemoryGroup group = MemoryGroup.of(surroundings.systemRoot());
    if (group == null) {
      return Check.warn(
          name, "no memory control group", "an OOM kill is told from the node's counter");
    }
    if (group.oomKills().isEmpty()) {
      return Check.warn(
          name,
          "cgroup " + group.version() + " shows no oom_kill in " + group.eventsFile(),
          "an OOM kill is told from the node's counter and the usage near the limit");
    }
    return Check.ok(
        name,
        "cgroup "
            + group.version()
            + ", limit "
            + group.limitText()
            + ", used "
            + group.usageText());
  }

  /** {@return null where a kill takes one process only, as it does by default} */
  @Nullable Check oomGroup() {
    MemoryGroup group = MemoryGroup.of(surroundings.systemRoot());
    if (group == null || !group.killsTogether()) {
      return null;
    }
    return Check.warn(
        "oom group",
        "memory.oom.group is 1: an OOM kill takes every process of this container, a parent such as"
            + " cairn run too",
        "let cairn watch look on from another container, or read the report at the next start");
  }

  /** What makes a JVM that runs out of heap say so; only options that every JVM here shares. */
  Check heapExhaustion() {
    String name = "heap full";
    List<String> found = new ArrayList<>();
    for (String variable : OPTION_VARIABLES) {
      String options = surroundings.variables().getOrDefault(variable, "");
      for (String flag :
          List.of(
              "ExitOnOutOfMemoryError",
              "CrashOnOutOfMemoryError",
              "HeapDumpOnOutOfMemoryError",
              "OnOutOfMemoryError")) {
        if (options.contains("-XX:+" + flag) || options.contains("-XX:" + flag + "=")) {
          found.add(flag + " (" + variable + ")");
        }
      }
    }
    return Check.ok(
        name,
        found.isEmpty()
            ? "no JVM option is set for all; -XX:+ExitOnOutOfMemoryError with"
                + " -XX:OnOutOfMemoryError=\"cairn note oom %p\" ends such a JVM and says why"
            : String.join(", ", found));
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
