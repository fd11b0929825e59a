package cairn.cli;

import cairn.report.Witness;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code --exit-code}: what a person knows of a death that the box can't. */
final class ExitCodeOption {
  private static final int MOST = 255;

  private final OptionSpec option =
      Options.value(
          Integer.class,
          "N",
          "the exit code that a shell, docker or kubectl told, as 137: judge with it too",
          "--exit-code");

  void addTo(CommandSpec spec) {
    spec.addOption(option);
  }

  /** {@return who says it; null if nobody does} */
  @Nullable Witness witness() {
    int status = Options.number(option, 0, MOST, -1);
    return status < 0 ? null : Witness.by("command-line").exitStatus(status);
  }
}
