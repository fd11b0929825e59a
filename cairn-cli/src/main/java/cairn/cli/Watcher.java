package cairn.cli;

import cairn.report.DeliveryInProgressException;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.RunIdentity;
import cairn.report.Witness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Watches the runs under one root and delivers each death. One thread. */
final class Watcher {
  /*
   * A run is in one of three places:
   *
   *   fresh    listed, not looked at yet
   *   open     alive when it was last looked at, or dead and not delivered yet
   *   settled  nothing more to do: delivered by this or another watcher, on another machine, or
   *            not readable. Eight bytes each, and forgotten when the run is deleted.
   *
   * What is known of a delivery is the stored report, nothing else: a watcher that is killed at any
   * point has printed the death and not stored the report, and it is delivered again, or it has
   * stored it. Open runs are looked at first, and fresh ones for a bounded time: a backlog of
   * thousands must not hide a death.
   */

  /** How long the fresh runs are looked at before the open ones are again. */
  private static final Duration BACKLOG = Duration.ofMillis(300);

  /** How long a {@code cairn run} has to write down the exit status of a process of its own. */
  private static final Duration STATUS_WITHIN = Duration.ofMillis(1_500);

  /** Other machines that are named, and no more. */
  private static final int MAX_NAMED = 100;

  /** A death that is longer ago is old when it is delivered. */
  private static final Duration OLD = Duration.ofMinutes(1);

  /** Gets the deaths. */
  interface Deaths {
    /**
     * Prints one.
     *
     * @param age since the last sign of life; zero for a death that was just noticed
     * @throws IOException if it did not get out: it is not delivered then
     */
    void print(Run run, Report report, Duration age) throws IOException;
  }

  /** Hears of each death once it is told, and at the start of those that were told before. */
  interface Told {
    /** Takes one; returns soon. */
    void told(Run run);
  }

  /** Tells the runs of other machines, which a shared volume shows too. */
  interface Elsewhere {
    /**
     * {@return whether the run is on another machine}
     *
     * @throws IOException if there is no readable box
     */
    boolean has(Run run) throws IOException;
  }

  /** A run that is alive, or whose death is to be delivered. */
  private static final class Open {
    final Run run;
    Instant diedAt = Instant.MAX;

    Open(Run run) {
      this.run = run;
    }
  }

  private final Session session;
  private final Path root;
  private final Clock clock;
  private final Elsewhere elsewhere;
  private final Deaths deaths;
  private final Told told;
  private final RunListing listing;

  private final Deque<Run> fresh = new ArrayDeque<>();
  private List<Open> open = new ArrayList<>();
  private IdSet settled = new IdSet();
  private final Set<String> otherHosts = new HashSet<>();
  private boolean isMissing;
  private boolean saidNotWritable;

  Watcher(Session session, Path root, Elsewhere elsewhere, Deaths deaths, Told told) {
    this.session = session;
    this.root = root;
    this.clock = session.surroundings.clock();
    this.elsewhere = elsewhere;
    this.deaths = deaths;
    this.told = told;
    this.listing = new RunListing(root, clock);
  }

  /** {@return whether the directory could not be read when it was looked at last} */
  boolean isMissing() {
    return isMissing;
  }

  /**
   * Looks once; returns whether there is more to look at at once.
   *
   * @throws OutputFailedException if a death could not be printed
   */
  boolean look() throws OutputFailedException {
    try {
      List<Run> runs = listing.ifChanged();
      if (runs != null) {
        take(runs);
      }
      isMissing = false;
    } catch (IOException e) {
      // What was open stays so: a volume that is gone says nothing about its processes.
      if (!isMissing) {
        isMissing = true;
        session.error(
            "directory is not readable, waiting for it: dir="
                + root
                + ", error="
                + RunSource.describe(e)
                + " (an application that records makes it)");
      }
    }
    lookAtOpen();
    return lookAtFresh();
  }

  /** {@return runs that are alive, or dead and not delivered} */
  int openCount() {
    return open.size();
  }

  private void take(List<Run> runs) {
    IdSet stillSettled = new IdSet();
    Set<String> known = new HashSet<>();
    for (Open each : open) {
      known.add(each.run.toString());
    }
    List<Open> stillOpen = new ArrayList<>();
    Set<String> listed = new HashSet<>();
    fresh.clear();
    for (Run run : runs) {
      String id = run.toString();
      if (settled.contains(id)) {
        stillSettled.add(id);
      } else if (known.contains(id)) {
        listed.add(id);
      } else {
        fresh.add(run);
      }
    }
    for (Open each : open) {
      if (listed.contains(each.run.toString())) {
        stillOpen.add(each);
      }
    }
    settled = stillSettled;
    open = stillOpen;
  }

  private void lookAtOpen() throws OutputFailedException {
    List<Open> stillOpen = new ArrayList<>(open.size());
    for (Open each : open) {
      if (!isDone(each, true)) {
        stillOpen.add(each);
      }
    }
    open = stillOpen;
  }

  private boolean lookAtFresh() throws OutputFailedException {
    long began = System.nanoTime();
    while (!fresh.isEmpty()) {
      Run run = fresh.removeFirst();
      if (Files.exists(run.storedReport())) {
        settled.add(run.toString());
        told.told(run);
      } else {
        Open each = new Open(run);
        if (!isDone(each, false)) {
          open.add(each);
        }
      }
      if (System.nanoTime() - began > BACKLOG.toNanos()) {
        break;
      }
    }
    return !fresh.isEmpty();
  }

  /** {@return whether there is nothing more to do for that run} */
  private boolean isDone(Open each, boolean wasAlive) throws OutputFailedException {
    Run run = each.run;
    if (run.isRunning()) {
      return false;
    }
    if (!Files.isDirectory(run.directory())) {
      return true; // deleted; or its volume is gone, and it is listed again when that is back
    }
    RunIdentity identity = null;
    try {
      identity = run.identity();
      if (elsewhere.has(run)) {
        sayElsewhere(identity);
        settled.add(run.toString());
        return true;
      }
    } catch (IOException e) {
      // The report says what is wrong; maybe a journal of the run has it.
    }
    try {
      if (each.diedAt.equals(Instant.MAX)) {
        each.diedAt = clock.instant();
        witness(run);
      }
      boolean statusToCome =
          wasAlive && identity != null && isStatusToCome(run, identity, each.diedAt);
      if (statusToCome || !isDelivered(run, wasAlive)) {
        return false;
      }
      if (Files.isDirectory(run.directory())) {
        told.told(run);
      }
    } catch (IllegalStateException e) {
      each.diedAt = Instant.MAX;
      return false; // it is alive again: its process was there all the time
    } catch (OutOfMemoryError e) {
      // It must not hide the others, now and at every start of a watcher.
      session.error(
          "run is too large for this heap: run="
              + run
              + ", maxHeap="
              + Units.size(Runtime.getRuntime().maxMemory())
              + " (see: cairn why; give the watcher more: CAIRN_JAVA_OPTS=-Xmx256m)");
    }
    if (Files.isDirectory(run.directory())) {
      settled.add(run.toString());
    }
    return true;
  }

  /** {@return whether a parent may be about to write down the exit status} */
  private boolean isStatusToCome(Run run, RunIdentity identity, Instant diedAt) {
    return identity.more().containsKey("launcher")
        && !Files.exists(run.directory().resolve("death-run"))
        && Duration.between(diedAt, clock.instant()).abs().compareTo(STATUS_WITHIN) < 0;
  }

  private void witness(Run run) {
    try {
      run.witness(Witness.by("watch"));
    } catch (IOException e) {
      // Nothing can be written there, or nothing be read: the delivery says so.
    }
  }

  /** {@return false if it is to be tried again} */
  private boolean isDelivered(Run run, boolean wasAlive) throws OutputFailedException {
    boolean[] printed = new boolean[1];
    try {
      run.deliver(
          report -> {
            print(run, report, wasAlive);
            printed[0] = true;
          });
    } catch (OutputFailedException e) {
      throw e;
    } catch (DeliveryInProgressException e) {
      return false;
    } catch (IOException e) {
      if (!Files.isDirectory(run.directory())) {
        return true; // deleted meanwhile
      }
      if (printed[0]) {
        sayNotWritable(e);
      } else {
        printUnstored(run, wasAlive, e);
      }
    }
    return true;
  }

  /** Where no report can be stored, on a volume mounted read-only, the death is told anyway. */
  private void printUnstored(Run run, boolean wasAlive, IOException why)
      throws OutputFailedException {
    try {
      print(run, run.report(), wasAlive);
    } catch (OutputFailedException e) {
      throw e;
    } catch (IOException e) {
      session.error(
          "run is not readable: run="
              + run
              + ", error="
              + RunSource.describe(e)
              + " (how it ended stays unknown)");
      return;
    }
    sayNotWritable(why);
  }

  private void print(Run run, Report report, boolean wasAlive) throws OutputFailedException {
    Duration age = Duration.ZERO;
    Instant lastSeen = report.run().lastSeenAt();
    if (!wasAlive && lastSeen != null) {
      Duration since = Duration.between(lastSeen, clock.instant());
      age = since.compareTo(OLD) >= 0 ? since : Duration.ZERO;
    }
    try {
      deaths.print(run, report, age);
    } catch (IOException e) {
      throw new OutputFailedException(e);
    }
  }

  private void sayElsewhere(RunIdentity identity) {
    String name = String.valueOf(identity.host());
    if (otherHosts.size() < MAX_NAMED && otherHosts.add(name)) {
      session.error(
          "runs of another machine are left alone: dir="
              + root
              + ", host="
              + name
              + " (watch them there; if it is this one under another name, set CAIRN_HOST_ID)");
    }
  }

  private void sayNotWritable(IOException e) {
    if (!saidNotWritable) {
      saidNotWritable = true;
      session.error(
          "reports cannot be stored: dir="
              + root
              + ", error="
              + RunSource.describe(e)
              + " (deaths are printed again at the next start; give write access)");
    }
  }
}
