package cairn;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The flags {@code -XX:} of this JVM, as far as a few are asked for. Immutable.
 *
 * <p>Read from the kernel's copy of the command line and from the variables that the JVM and its
 * launcher read, since asking the JVM would load the management classes. Nothing else of any is
 * kept: they hold passwords.
 */
final class JvmFlags {
  /** What the identity names if it is set. */
  static final List<String> NOTED =
      List.of(
          "ExitOnOutOfMemoryError",
          "CrashOnOutOfMemoryError",
          "HeapDumpOnOutOfMemoryError",
          "OnOutOfMemoryError",
          "ErrorFileToStderr",
          "ErrorFileToStdout");

  private final List<String> arguments;

  private JvmFlags(List<String> arguments) {
    this.arguments = arguments;
  }

  static JvmFlags ofThisProcess() {
    return of(
        System.getenv("JAVA_TOOL_OPTIONS"),
        System.getenv("JDK_JAVA_OPTIONS"),
        new String(ProcFile.bytes("/proc/self/cmdline"), StandardCharsets.UTF_8),
        System.getenv("_JAVA_OPTIONS"));
  }

  /**
   * Takes the flags in the order in which the JVM does, where the last of a name counts.
   *
   * @param toolOptions of {@code JAVA_TOOL_OPTIONS}
   * @param launcherOptions of {@code JDK_JAVA_OPTIONS}, which the launcher puts before the command
   *     line's
   * @param commandLine arguments, each followed by a zero
   * @param lateOptions of {@code _JAVA_OPTIONS}
   */
  static JvmFlags of(
      @Nullable String toolOptions,
      @Nullable String launcherOptions,
      String commandLine,
      @Nullable String lateOptions) {
    List<String> arguments = new ArrayList<>();
    split(arguments, toolOptions);
    split(arguments, launcherOptions);
    for (String argument : commandLine.split("\0", -1)) {
      if (argument.startsWith("-XX:")) {
        arguments.add(argument);
      }
    }
    split(arguments, lateOptions);
    return new JvmFlags(arguments);
  }

  /** Splits as the JVM does: at white space, quotes keep it. */
  private static void split(List<String> arguments, @Nullable String options) {
    if (options == null) {
      return;
    }
    StringBuilder argument = new StringBuilder();
    char quote = 0;
    for (int i = 0; i <= options.length(); i++) {
      char c = i == options.length() ? ' ' : options.charAt(i);
      if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      } else if ((quote == 0 && c <= ' ') || i == options.length()) {
        if (argument.indexOf("-XX:") == 0) {
          arguments.add(argument.toString());
        }
        argument.setLength(0);
      } else {
        argument.append(c);
      }
    }
  }

  /** {@return the last value of {@code -XX:name=value}, or null} */
  @Nullable String value(String name) {
    String prefix = "-XX:" + name + "=";
    String found = null;
    for (String argument : arguments) {
      if (argument.startsWith(prefix)) {
        found = argument.substring(prefix.length());
      }
    }
    return found;
  }

  /** {@return whether {@code -XX:+name} or {@code -XX:name=...} is there, and not taken back} */
  boolean isSet(String name) {
    boolean set = false;
    for (String argument : arguments) {
      if (argument.equals("-XX:+" + name) || argument.startsWith("-XX:" + name + "=")) {
        set = true;
      } else if (argument.equals("-XX:-" + name)) {
        set = false;
      }
    }
    return set;
  }
}
