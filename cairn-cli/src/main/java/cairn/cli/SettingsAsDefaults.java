package cairn.cli;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Gives every option the value of its property or environment variable as default. */
final class SettingsAsDefaults implements IDefaultValueProvider {
  private final Surroundings surroundings;

  SettingsAsDefaults(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option) || option.usageHelp() || option.versionHelp()) {
      return null;
    }
    if (option.isMultiValue()) {
      // --text is a flag of report too: what scrub is to erase is only said on its command line.
      return null;
    }
    String name = option.longestName().substring(2);
    // CommonOptions looks it up itself: an option before the command comes first.
    String setting = name.equals("dir") ? null : surroundings.setting(name);
    boolean isFlag = option.arity().max() == 0;
    return isFlag && setting != null ? flag(name, setting.strip()) : setting;
  }

  /**
   * {@return "true", "false", or what is neither, for picocli to refuse} Never false for what may
   * have been meant as true: {@code CAIRN_DRY_RUN=1 cairn scrub} must not scrub.
   */
  private static @Nullable String flag(String name, String setting) {
    switch (setting.toLowerCase(Locale.ROOT)) {
      case "true", "yes", "on" -> {
        return "true";
      }
      case "false", "no", "off" -> {
        return "false";
      }
      default -> {}
    }
    if (name.equals("keep")) {
      // A number for prune and a flag for demo, and both read the same setting.
      return null;
    }
    return setting.equals("1") ? "true" : setting.equals("0") ? "false" : setting;
  }
}
