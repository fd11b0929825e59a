package cairn.cli;

import cairn.report.Report;
import cairn.report.Run;
import cairn.sentry.ReportEvent;
import cairn.sentry.SentryEndpoint;
import cairn.sentry.SentryMark;
import cairn.sentry.SentryReply;
import cairn.sentry.SentryReply.Outcome;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A project of Sentry that {@code cairn export} sends to.
 *
 * <p>What fails is tried four times within some 10 s, or as long as Sentry asks, at most 10 s each
 * time. What is refused is kept, and marked so that {@code --all-dead} doesn't send it forever.
 */
final class SentryTarget implements ExportTarget {
  private static final int ATTEMPTS = 4;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final SentryEndpoint endpoint;
  private final Session session;
  private final boolean isLook;
  private boolean isClosed;

  /**
   * @param isLook only print what would be sent
   */
  SentryTarget(SentryEndpoint endpoint, Session session, boolean isLook) {
    this.endpoint = endpoint;
    this.session = session;
    this.isLook = isLook;
  }

  @Override
  public String name() {
    return isLook ? "-" : endpoint.name();
  }

  @Override
  public boolean isOutput() {
    return isLook;
  }

  @Override
  public boolean isLook() {
    return isLook;
  }

  @Override
  public boolean isClosed() {
    return isClosed;
  }

  @Override
  public boolean wants(Report report) {
    return !report.endedWell();
  }

  @Override
  public Due due(Run run) {
    Instant due = SentryMark.of(run).due(endpoint.name());
    if (!due.isAfter(session.surroundings.clock().instant())) {
      return Due.NOW;
    }
    return SentryMark.of(run).isRefused() ? Due.NOT_YET : Due.DONE;
  }

  @Override
  public void mark(Run run, Instant at) throws IOException {
    if (!isLook) {
      SentryMark.of(run).delivered(at, endpoint.name());
    }
  }

  @Override
  public String take(Run run, Report report) throws IOException {
    String event = "event=" + ReportEvent.id(report);
    if (isLook) {
      byte[] envelope = endpoint.envelope(report);
      session.out.write(envelope, 0, envelope.length);
      if (!session.flush()) {
        throw new IOException("nobody takes what is written");
      }
      return event;
    }
    SentryReply reply = send(report);
    switch (reply.outcome()) {
      case DELIVERED -> {
        return event;
      }
      case REFUSED, BLOCKED -> throw new IOException(refused(run, reply));
      case LIMITED -> {
        isClosed = true;
        throw new IOException("endpoint wants nothing for now: " + reply.text());
      }
      default -> {
        isClosed = reply.status() == 0;
        throw new IOException("endpoint " + problem(reply) + ": " + reply.text());
      }
    }
  }

  private static String problem(SentryReply reply) {
    return reply.status() == 0 ? "not reached" : "has trouble";
  }

  /** Marks the refusal; returns a message. */
  private String refused(Run run, SentryReply reply) {
    String message = refusal(reply);
    try {
      Instant at = session.surroundings.clock().instant();
      Instant next = SentryMark.of(run).refused(at, reply, endpoint.name());
      return message + ", next=" + next(next);
    } catch (IOException e) {
      return message + ", mark=" + RunSource.describe(e);
    }
  }

  static String refusal(SentryReply reply) {
    return (reply.outcome() == Outcome.BLOCKED
            ? "something that is not Sentry refused: "
            : "endpoint refused: ")
        + reply.text();
  }

  static String next(Instant next) {
    return next.equals(Instant.MAX) ? "never" : Units.rfc3339(next);
  }

  private SentryReply send(Report report) throws IOException {
    Duration pause = FIRST_PAUSE;
    for (int attempt = 1; ; attempt++) {
      SentryReply reply = endpoint.send(report);
      boolean isToBeTriedAgain =
          reply.outcome() == Outcome.FAILED || reply.outcome() == Outcome.LIMITED;
      Duration wait = asked(reply);
      if (!isToBeTriedAgain
          || attempt == ATTEMPTS
          || (wait != null && wait.compareTo(LONGEST_PAUSE) > 0)) {
        return reply;
      }
      try {
        session.surroundings.pause().await(wait == null ? pause : wait);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted: to=" + endpoint.name());
      }
      pause = pause.multipliedBy(3);
    }
  }

  private @Nullable Duration asked(SentryReply reply) {
    Instant again = reply.again();
    return again == null ? null : Duration.between(session.surroundings.clock().instant(), again);
  }
}
