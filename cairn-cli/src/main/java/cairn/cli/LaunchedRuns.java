package cairn.cli;

import cairn.report.Run;
import cairn.report.RunIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The runs that one {@code cairn run} launched: of its child, and of whatever that started in turn,
 * such as a build tool's test JVMs. They name it in their identity.
 */
final class LaunchedRuns {
  /** The variable by which a process learns who launched it; nested ones are joined by commas. */
  static final String VARIABLE = "CAIRN_LAUNCHER";

  /** What an identity holds of the variable. */
  private static final int MAX_CHARS = 200;

  private static final DateTimeFormatter ID_TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** A clock that was set back meanwhile must hide no run. */
  private static final Duration MARGIN = Duration.ofMinutes(1);

  /** A run and who recorded it. */
  record Launched(Run run, RunIdentity identity) {
    /** {@return whether that process of this pid namespace recorded it} */
    boolean isOf(long pid, @Nullable String namespace) {
      Object its = identity.more().get("pidNamespace");
      return identity.pid() == pid && (namespace == null || its == null || namespace.equals(its));
    }
  }

  private final RunListing listing;
  private final String launcher;
  private final String firstId;
  private final IdSet looked = new IdSet();
  private final List<Launched> living = new ArrayList<>();

  LaunchedRuns(Path root, String launcher, Clock clock) {
    this.listing = new RunListing(root, clock);
    this.launcher = launcher;
    this.firstId = ID_TIME.format(clock.instant().minus(MARGIN));
  }

  /** {@return the value of the variable for a child, given this process's own} */
  static String variable(String outer, String launcher) {
    String all = outer.isEmpty() ? launcher : outer + "," + launcher;
    return all.length() <= MAX_CHARS ? all : launcher;
  }

  /** {@return the runs whose death was noticed at this look} */
  List<Launched> look() {
    try {
      List<Run> runs = listing.ifChanged();
      if (runs != null) {
        take(runs);
      }
    } catch (IOException e) {
      // Nothing was recorded there yet.
    }
    List<Launched> died = new ArrayList<>();
    for (Launched launched : living) {
      if (!launched.run().isRunning()) {
        died.add(launched);
      }
    }
    living.removeAll(died);
    return died;
  }

  private void take(List<Run> runs) {
    for (Run run : runs) {
      if (run.id().compareTo(firstId) < 0) {
        return; // the newest come first
      }
      if (looked.add(run.toString())) {
        try {
          RunIdentity identity = run.identity();
          if (isLaunched(identity)) {
            living.add(new Launched(run, identity));
          }
        } catch (IOException e) {
          // Who recorded it can't be told.
        }
      }
    }
  }

  private boolean isLaunched(RunIdentity identity) {
    Object launchers = identity.more().get("launcher");
    return launchers != null && List.of(launchers.toString().split(",", -1)).contains(launcher);
  }

  /** {@return how many were alive at the last look} */
  int livingCount() {
    return living.size();
  }
}
