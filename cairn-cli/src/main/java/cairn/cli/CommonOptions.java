package cairn.cli;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code --dir} and {@code --help}, the options of every command. */
final class CommonOptions {
  private final Surroundings surroundings;

  /** Those of {@code cairn} itself, for {@code cairn --dir DIR list}; null there. */
  private final @Nullable CommonOptions outer;

  private final OptionSpec dir =
      Options.value(
          String.class,
          "DIR",
          "where the runs are, as <app>/<run>/ (default: cairn.dir or CAIRN_DIR, else"
              + " $XDG_STATE_HOME/cairn or ~/.local/state/cairn)",
          "--dir");

  CommonOptions(Surroundings surroundings, @Nullable CommonOptions outer) {
    this.surroundings = surroundings;
    this.outer = outer;
  }

  void addTo(CommandSpec spec) {
    spec.addOption(dir);
    spec.addOption(Options.help());
  }

  /** {@return the root directory: option, property, variable, else the recorder's default} */
  Path root() {
    String option = option();
    if (option != null) {
      if (option.isEmpty()) {
        throw CliException.usage("empty value: option=--dir (give a directory)");
      }
      return path("--dir", option);
    }
    String setting = surroundings.setting("dir");
    if (setting != null) {
      return path("cairn.dir or CAIRN_DIR", setting);
    }
    String state = surroundings.variables().get("XDG_STATE_HOME");
    // A relative one is to be ignored: XDG Base Directory Specification.
    if (state != null && Path.of(state).isAbsolute()) {
      return path("XDG_STATE_HOME", state).resolve("cairn");
    }
    String home = surroundings.properties().getProperty("user.home", ".");
    return Path.of(home, ".local", "state", "cairn");
  }

  /** {@return whether an option or a property chose the root: a child process can't know it} */
  boolean isChosenHere() {
    String property = surroundings.properties().getProperty(Surroundings.propertyName("dir"));
    return option() != null || (property != null && !property.isEmpty());
  }

  private @Nullable String option() {
    String own = Options.text(dir);
    return own != null || outer == null ? own : outer.option();
  }

  private static Path path(String source, String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw CliException.usage(
          "invalid path: option=" + source + ", value=" + text + " (give a directory)");
    }
  }

  /** {@return what to add to a command line so that it finds the same root; starts with a blank} */
  String asArgument() {
    String option = option();
    return option == null ? "" : " --dir " + ShellWord.quote(option);
  }
}
