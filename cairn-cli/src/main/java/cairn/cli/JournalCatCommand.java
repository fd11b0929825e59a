package cairn.cli;

import cairn.journal.Entry;
import cairn.journal.JournalFinding;
import cairn.journal.JournalFollower;
import cairn.journal.JournalReader;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn journal cat}. */
final class JournalCatCommand implements Callable<Integer> {
  private static final Duration PAUSE = Duration.ofMillis(500);

  /** Entries between two looks at whether anybody still reads. */
  private static final int LOOK_EVERY = 256;

  /** Ends a replay whose reader went away. */
  private static final class ReaderGoneException extends IOException {
    private static final long serialVersionUID = 1L;
  }

  private final Session session;

  private final JournalSource source = new JournalSource();
  private final OptionSpec from =
      Options.value(Long.class, "SEQUENCE", "from the entry of that number on", "--from");
  private final OptionSpec since =
      Options.value(
          String.class,
          "TIME",
          "only those of that time or later: 2026-11-30T14:03:07Z, or 10m for ten minutes ago",
          "--since");
  private final OptionSpec lines =
      Options.value(Integer.class, "N", "only the N newest of those", "-n", "--lines");
  private final OptionSpec follow =
      Options.flag("go on with new ones until no process writes to it", "-f", "--follow");

  private long next = 1;
  private int printed;
  private boolean hasLoss;
  private final Set<JournalFinding> said = new HashSet<>();

  JournalCatCommand(Session session) {
    this.session = session;
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "cat",
            this,
            new String[] {
              "Prints the entries of a journal, oldest first, as lines of JSON.",
              "",
              "{\"sequence\":17,\"time\":\"2026-11-30T14:03:07.412Z\",\"event\":{...}}, or \"text\", or"
                  + " \"base64\"."
            },
            new String[] {
              "What is damaged or missing is said on stderr, where it is noticed.",
              "",
              "Exit codes: 0 printed (maybe none), 1 entries are missing, 2 wrong usage, 3 nothing"
                  + " readable",
              "",
              "Examples:",
              "  cairn journal cat /data/jobs",
              "  cairn journal cat /data/jobs -n 5 -f             the last five, then what comes",
              "  cairn journal cat /data/jobs --since 1h | jq -r .event.step"
            });
    spec.addOption(from);
    spec.addOption(since);
    spec.addOption(lines);
    spec.addOption(follow);
    source.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    Long first = from.getValue();
    if (first != null && first < 1) {
      throw CliException.usage(
          "value is too small: option=--from, value=" + first + ", limit=1 (give a larger one)");
    }
    Integer count = Options.number(lines, 0);
    Instant oldest = oldest();
    next = first == null ? 1 : first;
    JournalReader reader = source.open();
    try {
      print(reader, oldest, count);
      sayIfARuns(reader);
      if (Options.isSet(follow)) {
        follow(reader, oldest);
      }
    } catch (ReaderGoneException e) {
      return ExitCode.OK;
    }
    return hasLoss ? ExitCode.FOUND : ExitCode.OK;
  }

  private @Nullable Instant oldest() {
    String text = Options.text(since);
    if (text == null) {
      return null;
    }
    Duration age = Units.parse(text);
    if (age != null) {
      return session.surroundings.clock().instant().minus(age);
    }
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw CliException.usage(
          "invalid value: option=--since, value="
              + text
              + " (give a time such as 2026-11-30T14:03:07Z, or an age such as 10m or 12h)");
    }
  }

  private void print(JournalReader reader, @Nullable Instant oldest, @Nullable Integer count)
      throws IOException {
    Deque<Entry> newest = new ArrayDeque<>();
    if (count != null && next == 1 && oldest == null) {
      // Finds its place from the end.
      newest.addAll(reader.last(count));
      next = reader.lastSequence() + 1;
    } else {
      List<JournalFinding> findings =
          reader.replay(
              next,
              entry -> {
                next = entry.sequence() + 1;
                if (oldest != null && entry.time().isBefore(oldest)) {
                  return;
                }
                if (count == null) {
                  print(entry);
                  return;
                }
                newest.add(entry);
                if (newest.size() > count) {
                  newest.remove();
                }
              });
      say(findings);
    }
    for (Entry entry : newest) {
      print(entry);
    }
    flush();
  }

  private void print(Entry entry) throws ReaderGoneException {
    session.out.println(entry.toJson());
    if (++printed % LOOK_EVERY == 0) {
      flush();
    }
  }

  private void flush() throws ReaderGoneException {
    if (!session.flush()) {
      throw new ReaderGoneException();
    }
  }

  private void sayIfARuns(JournalReader reader) throws IOException {
    if (printed > 0) {
      return;
    }
    long frames = reader.verify().runFrames();
    if (frames > 0) {
      session.error(
          "that is a run's own journal, which has no entries: records="
              + frames
              + " (see: cairn report)");
    }
  }

  private void follow(JournalReader reader, @Nullable Instant oldest) throws IOException {
    try (JournalFollower follower = reader.follow(next)) {
      boolean isLive;
      do {
        // Asked before reading, so that what a writer appends last is seen.
        isLive = reader.isLive();
        for (Entry entry = follower.poll(isLive ? PAUSE : Duration.ZERO);
            entry != null;
            entry = follower.poll(Duration.ZERO)) {
          next = entry.sequence() + 1;
          if (oldest == null || !entry.time().isBefore(oldest)) {
            print(entry);
          }
        }
        flush();
        say(follower.findings());
      } while (isLive && !Thread.currentThread().isInterrupted());
    }
    // What a writer that died had not moved into a segment.
    print(reader, oldest, null);
    session.error("no process writes to it any more: last=" + (next - 1));
  }

  private void say(List<JournalFinding> findings) {
    for (JournalFinding finding : findings) {
      if (said.add(finding)) {
        session.error(finding.toString());
        hasLoss |= finding.isLoss();
      }
    }
  }
}
