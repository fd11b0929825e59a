package cairn.stress;

import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Verdict;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A way to die, whose true cause is known because we make it. Immutable; any thread.
 *
 * <p>What may be said of it: a cause that is <em>right</em> with any confidence; one that is right
 * unless it is said to be certain ({@code atMostLikely}); one that may be guessed ({@code
 * atMostPossible}), as {@link Cause#UNKNOWN} always may. Anything else is wrong.
 */
final class Death {
  final String name;
  final Cause truth;
  final String way;
  final List<String> options;
  final Needs needs;
  final long limitMebibytes;
  final Launch launch;
  final Reading reading;
  final Act act;

  /** Whether it dies as soon as it has a run, not once it serves. */
  final boolean isEarly;

  /** Died before it, in the same place. */
  final Death predecessor;

  /** Dies after it, in the same place, and before anybody looks. */
  final Death successor;

  private final Allowed allowed;
  private final Allowed allowedWithStatus;

  private Death(Builder builder) {
    name = builder.name;
    truth = builder.truth;
    way = builder.way;
    options = builder.options;
    needs = builder.needs;
    limitMebibytes = builder.limitMebibytes;
    launch = builder.launch;
    reading = builder.reading;
    act = builder.act;
    isEarly = builder.isEarly;
    predecessor = builder.predecessor;
    successor = builder.successor;
    allowed = builder.allowed;
    allowedWithStatus =
        builder.allowedWithStatus == null ? builder.allowed : builder.allowedWithStatus;
  }

  /** What a machine must have for it. */
  enum Needs {
    /** Linux. */
    NOTHING,
    /** Java 21 or later. */
    VIRTUAL_THREADS,
    /** Java 22 or later. */
    FOREIGN_FUNCTIONS,
    /** A memory cgroup that this process may create. */
    MEMORY_GROUP,
    /** A pid namespace that this process may create. */
    PID_NAMESPACE,
    /** A mount and host name namespace that this process may create. */
    MOUNT_NAMESPACE,
    /** A clock namespace that this process may create. */
    TIME_NAMESPACE,
    /** A C compiler, with which the victim gets a wall clock of its own. */
    COMPILER
  }

  /** Where the victim is started. */
  enum Launch {
    /** As any process. */
    PLAIN,
    /** As process 1 of a pid namespace of its own, as in a container. */
    FIRST_PROCESS,
    /** With a monotonic clock that is ahead of the reader's. */
    OTHER_CLOCK,
    /** With a wall clock that is set back by an hour. */
    CLOCK_SET_BACK,
    /** With a wall clock that is set ahead by an hour. */
    CLOCK_SET_AHEAD
  }

  /** From where the report is read. */
  enum Reading {
    /** From where the victim was started. */
    HERE,
    /** From another pid namespace. */
    OTHER_CONTAINER,
    /** From a machine of the same name that was booted since. */
    AFTER_REBOOT,
    /** From a machine of another name. */
    OTHER_MACHINE,
    /** From a machine of the same name that was up before the run began. */
    OTHER_MACHINE_OF_THAT_NAME
  }

  /** What the one who started the victim knows and does. */
  interface Act {
    void on(Dying victim) throws IOException, InterruptedException;
  }

  /** How good a verdict is. */
  enum Grade {
    /** The right cause, at certain or likely. */
    RIGHT,
    /** The right cause, or one that can't be excluded, said to be possible; or unknown. */
    UNSURE,
    /** Another cause, that leaves the same trace, at likely. */
    SAME_TRACE,
    /** A cause that the evidence can exclude, said to be possible. */
    BAD_GUESS,
    /** A false verdict at certain or likely. */
    WRONG
  }

  private record Allowed(Set<Cause> right, Set<Cause> atMostLikely, Set<Cause> atMostPossible) {
    Grade grade(Verdict verdict) {
      boolean sure =
          verdict.confidence() == Confidence.CERTAIN || verdict.confidence() == Confidence.LIKELY;
      boolean isRight = right.contains(verdict.cause());
      boolean isLikeIt =
          atMostLikely.contains(verdict.cause()) && verdict.confidence() != Confidence.CERTAIN;
      if (sure || (isRight && verdict.cause() == Cause.UNKNOWN)) {
        return isRight ? Grade.RIGHT : isLikeIt ? Grade.SAME_TRACE : Grade.WRONG;
      }
      return isRight
              || isLikeIt
              || verdict.cause() == Cause.UNKNOWN
              || atMostPossible.contains(verdict.cause())
          ? Grade.UNSURE
          : Grade.BAD_GUESS;
    }

    String text() {
      return causes(right)
          + (atMostLikely.isEmpty() ? "" : "; at most likely: " + causes(atMostLikely))
          + (atMostPossible.isEmpty() ? "" : "; at most possible: " + causes(atMostPossible));
    }

    private static String causes(Set<Cause> causes) {
      return String.join(", ", causes.stream().map(Cause::name).toList());
    }
  }

  Grade grade(View view, Verdict verdict) {
    return (view == View.STATUS ? allowedWithStatus : allowed).grade(verdict);
  }

  /** {@return what may be said, for a table} */
  String allowedText(View view) {
    return (view == View.STATUS ? allowedWithStatus : allowed).text();
  }

  /** Who judges, with what. */
  enum View {
    /** A report alone, at once: whatever is still there can be asked. */
    ALONE("alone"),
    /** With the exit status that a parent saw. */
    STATUS("with its exit status"),
    /** Later, by what a watcher wrote down at once: its cgroup is gone. */
    WATCHED("later, seen by a watcher"),
    /** Later, and nobody watched: its cgroup is gone. */
    LATER("later, alone");

    final String text;

    View(String text) {
      this.text = text;
    }
  }

  static Builder of(String name, Cause truth) {
    return new Builder(name, truth);
  }

  @Override
  public String toString() {
    return name;
  }

  /** Puts one together. One thread. */
  static final class Builder {
    private final String name;
    private final Cause truth;
    private String way = "live";
    private List<String> options = List.of();
    private Needs needs = Needs.NOTHING;
    private long limitMebibytes;
    private Launch launch = Launch.PLAIN;
    private Reading reading = Reading.HERE;
    private Act act = Dying::go;
    private boolean isEarly;
    private Death predecessor;
    private Death successor;
    private Allowed allowed;
    private Allowed allowedWithStatus;

    private Builder(String name, Cause truth) {
      this.name = name;
      this.truth = truth;
      this.allowed = new Allowed(EnumSet.of(truth), Set.of(), Set.of());
    }

    /** What the victim does: see {@link DeathVictim}. */
    Builder way(String words) {
      way = words;
      return this;
    }

    /** Options of the JVM; {@code %h} is the victim's directory. */
    Builder options(String... words) {
      options = List.of(words);
      return this;
    }

    Builder needs(Needs what) {
      needs = what;
      return this;
    }

    /** Puts the victim into a memory cgroup of its own. */
    Builder limit(long mebibytes) {
      limitMebibytes = mebibytes;
      needs = Needs.MEMORY_GROUP;
      return this;
    }

    Builder launch(Launch where, Needs what) {
      launch = where;
      needs = what;
      return this;
    }

    Builder reading(Reading from, Needs what) {
      reading = from;
      needs = what;
      return this;
    }

    /** What the one who started it does; default: tells it to go. */
    Builder act(Act what) {
      act = what;
      return this;
    }

    Builder early() {
      isEarly = true;
      return this;
    }

    Builder after(Death other) {
      predecessor = other;
      return this;
    }

    Builder before(Death other) {
      successor = other;
      return this;
    }

    /** Adds causes that are right as well. */
    Builder right(Cause... causes) {
      allowed =
          new Allowed(plus(allowed.right, causes), allowed.atMostLikely, allowed.atMostPossible);
      return this;
    }

    Builder atMostLikely(Cause... causes) {
      allowed =
          new Allowed(allowed.right, plus(allowed.atMostLikely, causes), allowed.atMostPossible);
      return this;
    }

    Builder atMostPossible(Cause... causes) {
      allowed =
          new Allowed(allowed.right, allowed.atMostLikely, plus(allowed.atMostPossible, causes));
      return this;
    }

    /** With the exit status, only these are right, and the truth. */
    Builder withStatus(Cause... causes) {
      allowedWithStatus = new Allowed(plus(EnumSet.of(truth), causes), Set.of(), Set.of());
      return this;
    }

    private static Set<Cause> plus(Set<Cause> some, Cause... more) {
      EnumSet<Cause> all = EnumSet.noneOf(Cause.class);
      all.addAll(some);
      all.addAll(Arrays.asList(more));
      return all;
    }

    Death build() {
      return new Death(this);
    }
  }
}
