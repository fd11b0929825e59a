package cairn.cli;

import cairn.report.Report;
import cairn.report.Run;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code cairn watch}. */
final class WatchCommand implements Callable<Integer> {
  private static final double INTERVAL_SECONDS = 0.5;
  private static final double LEAST_SECONDS = 0.05;
  private static final double MOST_SECONDS = 3_600;

  /** The longest pause in one piece: within this a signal ends the command. */
  private static final Duration SLICE = Duration.ofMillis(500);

  private final Session session;
  private final CommonOptions common;
  private final PositionalParamSpec directories =
      PositionalParamSpec.builder()
          .index("0..*")
          .arity("0..*")
          .type(List.class)
          .auxiliaryTypes(String.class)
          .paramLabel("DIR")
          .description(
              "where runs are, as <app>/<run>/; need not exist yet (default: that of --dir)")
          .build();
  private final OptionSpec interval =
      Options.value(Double.class, "SECONDS", "time between two looks (default: 0.5)", "--interval");
  private final OptionSpec once = Options.flag("deliver what is dead already, then end", "--once");
  private final OptionSpec json = Options.flag("print one JSON object a line", "--json");

  private final SentrySettings sentry;
  private final CommandSpec spec;

  private final AtomicBoolean isStopped = new AtomicBoolean();

  WatchCommand(Session session) {
    this.session = session;
    this.common = new CommonOptions(session.surroundings, session.top);
    this.sentry =
        new SentrySettings(session, "send each death that is told as an event to this DSN too");
    this.spec = command();
  }

  CommandSpec spec() {
    return spec;
  }

  private CommandSpec command() {
    CommandSpec command =
        Options.command(
            "watch",
            this,
            new String[] {
              "Delivers each death as it happens: one line on stdout, and the report beside the run.",
              "",
              "Copies what soon vanishes (hs_err, hsperfdata), writes <app>/reports/<run>.json, and prints the",
              "time, the run's id and what ended it. Each death at least once, also if the watcher is killed;",
              "once however many watch. Ends too: a run that returned is a line as well. Deaths from before",
              "it started are delivered if nobody has. Runs of other machines are left alone.",
              "",
              "With --sentry each death, but no end in order, also goes to Sentry, at least once and always as",
              "the same event; the line on stdout doesn't wait for it. What can't be sent is tried again, also",
              "by the next watcher, for 30 days.",
              "",
              "Ends in order on TERM and INT. Takes some 50 MiB; as a sidecar give it 96 MiB, 128 with --sentry."
            },
            new String[] {
              "Exit codes: 0 ended by a signal, or by --once; 1 with --once, a death could not be sent; 2 wrong",
              "usage; 3 the output failed, or with --once, a directory that can't be read",
              "",
              "Examples:",
              "  cairn watch /data/cairn                      a sidecar",
              "  cairn watch --json | jq -r 'select(.cause == \"OOM_KILLED\") | .id'",
              "  cairn watch --once                           from a timer",
              "  cairn watch --sentry env /data/cairn         each death to SENTRY_DSN too"
            });
    command.addPositional(directories);
    command.addOption(interval);
    command.addOption(once);
    command.addOption(json);
    sentry.addTo(command);
    common.addTo(command);
    return command;
  }

  @Override
  public Integer call() {
    Duration pause = interval();
    if (!sentry.isSet()) {
      sentry.requireUnused(spec);
      return watch(pause, run -> {}, () -> true);
    }
    try (SentryOutbox outbox = new SentryOutbox(session, sentry.endpoint())) {
      if (!Options.isSet(once)) {
        outbox.start();
      }
      return watch(pause, outbox, () -> isAllSent(outbox));
    }
  }

  /** {@return whether all that was to be sent now has been} Sends it. */
  private boolean isAllSent(SentryOutbox outbox) {
    try {
      outbox.sendDue();
    } catch (InterruptedIOException e) {
      return false;
    }
    return outbox.unsent() == 0;
  }

  /**
   * {@return the exit code} Watches.
   *
   * @param atEnd what to do with {@code --once} at the end; false if it could not
   */
  private int watch(Duration pause, Watcher.Told told, BooleanSupplier atEnd) {
    List<Watcher> watchers = new ArrayList<>();
    for (Path root : roots()) {
      watchers.add(new Watcher(session, root, Run::isElsewhere, this::print, told));
    }
    Signals signals = Signals.catching(List.of("TERM", "INT", "HUP"), name -> isStopped.set(true));
    try {
      do {
        boolean more = false;
        for (Watcher watcher : watchers) {
          more |= !isStopped.get() && watcher.look();
        }
        if (!more) {
          if (Options.isSet(once)) {
            // Nothing waits for it then: a timer with a typing error must not look well.
            boolean isSent = atEnd.getAsBoolean();
            return watchers.stream().anyMatch(Watcher::isMissing)
                ? ExitCode.UNREADABLE
                : isSent ? ExitCode.OK : ExitCode.FOUND;
          }
          pause(pause);
        }
      } while (!isStopped.get());
    } catch (OutputFailedException e) {
      // Session.finish says so, and with which exit code.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // whoever calls this wants it to end
    } finally {
      signals.close();
    }
    return ExitCode.OK;
  }

  private void pause(Duration pause) throws InterruptedException {
    for (Duration rest = pause; !isStopped.get() && !rest.isZero() && !rest.isNegative(); ) {
      Duration slice = rest.compareTo(SLICE) < 0 ? rest : SLICE;
      session.surroundings.pause().await(slice);
      rest = rest.minus(slice);
    }
  }

  private Duration interval() {
    Double seconds = interval.getValue();
    if (seconds == null) {
      seconds = INTERVAL_SECONDS;
    }
    if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS)) {
      throw CliException.usage(
          "value is out of range: option=--interval, value="
              + seconds
              + ", least="
              + LEAST_SECONDS
              + ", most="
              + MOST_SECONDS
              + " (give seconds)");
    }
    return Duration.ofNanos((long) (seconds * 1e9));
  }

  private Set<Path> roots() {
    Set<Path> roots = new LinkedHashSet<>();
    for (String text : Options.texts(directories)) {
      if (text.isEmpty()) {
        throw CliException.usage("empty value: argument=DIR (give a directory)");
      }
      try {
        roots.add(Path.of(text).toAbsolutePath().normalize());
      } catch (InvalidPathException e) {
        throw CliException.usage(
            "invalid path: argument=DIR, value=" + text + " (give a directory)");
      }
    }
    if (roots.isEmpty()) {
      roots.add(common.root().toAbsolutePath());
    }
    return roots;
  }

  private void print(Run run, Report report, Duration age) throws IOException {
    Instant now = session.surroundings.clock().instant();
    session.out.println(
        Options.isSet(json) ? Json.of(row(run, report, age, now)) : line(run, report, age, now));
    if (!session.flush()) {
      throw new IOException("nobody reads the output");
    }
  }

  private static String line(Run run, Report report, Duration age, Instant now) {
    return Escape.line(
        Units.rfc3339(now)
            + " "
            + run.id()
            + " "
            + DeathLine.who(report.run())
            + ": "
            + DeathLine.what(report)
            + (age.isZero() ? "" : " (died " + Units.age(age) + " ago)"));
  }

  private static Map<String, @Nullable Object> row(
      Run run, Report report, Duration age, Instant now) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("at", now);
    row.put("id", run.id());
    row.put("app", report.run().app());
    row.put("pid", report.run().pid());
    if (report.run().host() != null) {
      row.put("host", report.run().host());
    }
    row.put("directory", run.directory().toString());
    DeathRow.verdict(row, report);
    if (!age.isZero()) {
      row.put("ageMillis", age.toMillis());
    }
    row.put("report", run.storedReport().toString());
    return row;
  }
}
