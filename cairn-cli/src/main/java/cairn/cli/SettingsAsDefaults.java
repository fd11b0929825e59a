package cairn.cli;

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
    // --keep is a number for prune and a flag for demo, and both read the same setting.
    boolean isFlag = option.arity().max() == 0;
    return isFlag && setting != null && !setting.equals("true") && !setting.equals("false")
        ? null
        : setting;
  }
}
