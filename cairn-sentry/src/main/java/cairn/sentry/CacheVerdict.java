package cairn.sentry;

import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Evidence;
import cairn.report.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the files say about the end of the process: never more than {@code possible}, since they
 * have no run they belong to, and stay when the process goes on.
 */
final class CacheVerdict {
  /** What comes so long after a crash was not by the process that crashed. */
  private static final Duration AFTER = Duration.ofSeconds(5);

  private final List<Evidence> evidence = new ArrayList<>();
  private final @Nullable Instant seen;
  private @Nullable Instant lastSeen;
  private Cause cause = Cause.UNKNOWN;
  private String headline = "";
  private @Nullable FoundEvent death;

  /**
   * Judges by what else was found.
   *
   * @param seen the newest time in anything but markers; null if there is none
   */
  CacheVerdict(@Nullable Instant seen) {
    this.seen = seen;
    this.lastSeen = seen;
  }

  void judge(
      CacheReading.@Nullable Marker java,
      CacheReading.@Nullable Marker jni,
      CacheReading.@Nullable Marker startup,
      CacheReading.@Nullable Session session,
      CacheReading.@Nullable Session previous,
      @Nullable FoundEvent unhandled,
      boolean hasScope) {
    if (jni != null) {
      crash(Cause.NATIVE_CRASH, "crashed in native code", jni, null);
    }
    if (java != null) {
      crash(Cause.UNCAUGHT, "ended by an uncaught exception", java, unhandled);
    } else if (unhandled != null) {
      String what = unhandled.file() + " holds an event of an exception that nobody caught";
      if (end(Cause.UNCAUGHT, "ended by an uncaught exception", unhandled.time(), what)) {
        death = unhandled;
      }
    }
    if (startup != null) {
      add(Evidence.Kind.FOR, startup.file() + " is there: a crash within seconds of the start");
    }
    if (session != null) {
      session(session);
    }
    if (previous != null) {
      add(
          Evidence.Kind.AGAINST,
          previous.file()
              + " is of the run before: session status="
              + previous.status()
              + at(previous.time()));
    }
    if (!hasScope) {
      add(Evidence.Kind.MISSING, "no persisted scope: on a JVM nothing writes one by default");
    }
    add(
        Evidence.Kind.MISSING,
        "sentry-java keeps no lock, pid or end marker: the process may also live, or have ended in"
            + " order");
  }

  private void crash(
      Cause crash, String what, CacheReading.Marker marker, @Nullable FoundEvent unhandled) {
    String said = marker.file() + " is there" + at(marker.time());
    if (end(crash, what, marker.time(), said)
        && unhandled != null
        && isNear(unhandled.time(), marker.time())) {
      death = unhandled;
      add(Evidence.Kind.FOR, unhandled.file() + " holds its event");
    }
  }

  private static boolean isNear(@Nullable Instant one, @Nullable Instant other) {
    return one != null && other != null && Duration.between(one, other).abs().compareTo(AFTER) <= 0;
  }

  /** {@return whether that may have been the end, and is the first to say so} */
  private boolean end(Cause crash, String what, @Nullable Instant time, String said) {
    if (time != null && seen != null && seen.isAfter(time.plus(AFTER))) {
      add(Evidence.Kind.AGAINST, said + ", but the files go on until " + seen);
      return false;
    }
    add(Evidence.Kind.FOR, said);
    lastSeen = SentryTime.later(lastSeen, time);
    if (cause != Cause.UNKNOWN) {
      return false;
    }
    cause = crash;
    headline = "Possibly " + what + at(time);
    return true;
  }

  private void session(CacheReading.Session session) {
    String status = CacheReading.lower(session.status());
    String said = session.file() + " has the session status=" + status + at(session.time());
    switch (status) {
      case "crashed" -> end(Cause.UNCAUGHT, "crashed", session.time(), said);
      case "abnormal" -> {
        Object mechanism = session.json().get("abnormal_mechanism");
        end(
            Cause.KILLED,
            "killed because it hung",
            session.time(),
            said + (mechanism == null ? "" : ", mechanism=" + mechanism));
      }
      case "ok" -> add(Evidence.Kind.FOR, said + ", never ended: the process died in it, or lives");
      default -> add(Evidence.Kind.AGAINST, said);
    }
  }

  private void add(Evidence.Kind kind, String text) {
    evidence.add(new Evidence(kind, text));
  }

  private static String at(@Nullable Instant time) {
    return time == null ? "" : " at " + time;
  }

  /** {@return the event of what ended the process; null if none is known} */
  @Nullable FoundEvent death() {
    return death;
  }

  /** {@return the last sign of life; null if there is none} */
  @Nullable Instant lastSeen() {
    return lastSeen;
  }

  Verdict verdict() {
    String last = lastSeen == null ? "" : ", last seen at " + lastSeen;
    if (cause == Cause.UNKNOWN) {
      return new Verdict(
          cause,
          Confidence.UNKNOWN,
          "Not known how it ended: what sentry-java left behind doesn't say" + last,
          evidence);
    }
    String title = death == null ? null : death.title();
    return new Verdict(
        cause, Confidence.POSSIBLE, headline + (title == null ? "" : ": " + title), evidence);
  }
}
