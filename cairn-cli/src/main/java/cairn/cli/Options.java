package cairn.cli;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Makes and reads options. The model is built by hand because reading annotations is half of the
 * time that a command would take to start.
 */
final class Options {
  private Options() {}

  /**
   * {@return the model of a command}
   *
   * @param call does the work
   * @param description first line for the list of commands
   * @param footer below the options
   */
  static CommandSpec command(
      String name, Callable<Integer> call, String[] description, String[] footer) {
    CommandSpec spec = CommandSpec.wrapWithoutInspection(call).name(name);
    spec.usageMessage()
        .synopsisHeading("Usage: ")
        .description(description)
        .descriptionHeading(description.length == 0 ? "" : "%n")
        .parameterListHeading("%n")
        .optionListHeading("%nOptions:%n")
        .commandListHeading("%nCommands:%n")
        .footer(footer)
        .footerHeading("%n")
        .sortOptions(false)
        .sortSynopsis(false);
    return spec;
  }

  /** {@return an option without a value} */
  static OptionSpec flag(String description, String... names) {
    // The fallback makes the option mean true also where the environment says so already.
    return OptionSpec.builder(names)
        .type(boolean.class)
        .arity("0")
        .fallbackValue("true")
        .description(description)
        .build();
  }

  /** {@return the option that every command has} */
  static OptionSpec help() {
    return OptionSpec.builder("-h", "--help")
        .type(boolean.class)
        .usageHelp(true)
        .description("show this help")
        .build();
  }

  /** {@return an option with a value of that type} */
  static OptionSpec value(Class<?> type, String label, String description, String... names) {
    return OptionSpec.builder(names)
        .type(type)
        .arity("1")
        .paramLabel(label)
        .description(description)
        .build();
  }

  /** {@return an option with a text that may be given again} */
  static OptionSpec repeated(String label, String description, String... names) {
    return OptionSpec.builder(names)
        .type(List.class)
        .auxiliaryTypes(String.class)
        .arity("1")
        .paramLabel(label)
        .description(description)
        .build();
  }

  static boolean isSet(OptionSpec flag) {
    return Boolean.TRUE.equals(flag.getValue());
  }

  /** {@return the text given, null if none was} */
  static @Nullable String text(ArgSpec argument) {
    return argument.getValue();
  }

  /** {@return all texts given, maybe none} */
  static List<String> texts(ArgSpec argument) {
    List<String> values = argument.getValue();
    return values == null ? List.of() : values;
  }

  /** {@return the number given, null if none was; not below {@code limit}} */
  static @Nullable Integer number(OptionSpec option, int limit) {
    Integer value = option.getValue();
    if (value != null && value < limit) {
      throw CliException.usage(
          "value is too small: option="
              + option.longestName()
              + ", value="
              + value
              + ", limit="
              + limit
              + " (give a larger one)");
    }
    return value;
  }

  /**
   * {@return the number given, {@code otherwise} if none was; from {@code least} to {@code most}}
   */
  static int number(OptionSpec option, int least, int most, int otherwise) {
    Integer value = number(option, least);
    if (value != null && value > most) {
      throw CliException.usage(
          "value is too large: option="
              + option.longestName()
              + ", value="
              + value
              + ", limit="
              + most
              + " (give a smaller one)");
    }
    return value == null ? otherwise : value;
  }
}
