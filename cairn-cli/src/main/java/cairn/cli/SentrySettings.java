package cairn.cli;

import cairn.sentry.SentryEndpoint;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options that say which Sentry, and how it is reached. */
final class SentrySettings {
  /** What takes the DSN from where Sentry's own libraries do. */
  private static final String FROM_ENVIRONMENT = "env";

  private final Session session;
  private final OptionSpec dsn;
  private final OptionSpec proxy =
      Options.value(
          String.class,
          "HOST:PORT",
          "with --sentry: go through this HTTP proxy (default: that of -Dhttps.proxyHost)",
          "--proxy");
  private final OptionSpec certificates =
      Options.value(
          String.class, "FILE", "with --sentry: trust these certificates too, in PEM", "--ca");

  /**
   * @param what the option does there
   */
  SentrySettings(Session session, String what) {
    this.session = session;
    this.dsn =
        Options.value(
            String.class,
            "DSN",
            what
                + "; \"env\" takes it from SENTRY_DSN, and CAIRN_SENTRY is this option: other users"
                + " of the machine see a command line",
            "--sentry");
  }

  void addTo(CommandSpec spec) {
    spec.addOption(dsn);
    spec.addOption(proxy);
    spec.addOption(certificates);
  }

  OptionSpec dsn() {
    return dsn;
  }

  /** {@return whether there is a Sentry to send to} */
  boolean isSet() {
    return Options.text(dsn) != null;
  }

  /** Refuses, on the command line, what means nothing without Sentry. */
  void requireUnused(CommandSpec spec) {
    for (OptionSpec option : new OptionSpec[] {proxy, certificates}) {
      if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
        throw CliException.usage(
            "option without another: option="
                + option.longestName()
                + ", needs=--sentry (give both)");
      }
    }
  }

  /** {@return the endpoint} Sends nothing yet. */
  SentryEndpoint endpoint() {
    SentryEndpoint.Builder builder;
    try {
      builder = SentryEndpoint.builder(text());
    } catch (IllegalArgumentException e) {
      throw CliException.usage(String.valueOf(e.getMessage()));
    }
    builder.clock(session.surroundings.clock());
    String through = Options.text(proxy);
    if (through != null && !through.isEmpty()) {
      int colon = through.lastIndexOf(':');
      int port = port(through.substring(colon + 1));
      if (colon < 1 || port < 0) {
        throw CliException.usage(
            "invalid proxy: option=--proxy, value=" + through + " (give HOST:PORT)");
      }
      builder.proxy(through.substring(0, colon), port);
    }
    String file = Options.text(certificates);
    try {
      if (file != null && !file.isEmpty()) {
        builder.certificates(Path.of(file));
      }
      return builder.build();
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: option=--ca, value=" + file + " (give a file)");
    } catch (IOException e) {
      throw CliException.usage(
          "certificates not usable: option=--ca, error=" + RunSource.describe(e) + " (give PEM)");
    }
  }

  private String text() {
    String text = Options.text(dsn);
    if (text == null || !text.equals(FROM_ENVIRONMENT)) {
      return text == null ? "" : text;
    }
    @Nullable String variable = session.surroundings.variables().get("SENTRY_DSN");
    if (variable == null || variable.isBlank()) {
      throw CliException.usage(
          "no DSN: option=--sentry, value=env (set SENTRY_DSN, or give the DSN)");
    }
    return variable;
  }

  private static int port(String text) {
    try {
      int port = Integer.parseInt(text);
      return port > 0 && port <= 65_535 ? port : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
