package cairn.report;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What lies beside the box of a dead run: statements of witnesses, and what the JVM left or took
 * away. Immutable.
 *
 * @param directory of the run; null if there is none
 * @param hooksLeft whether the file is there that is deleted when all shutdown hooks have ended
 * @param statements oldest first
 * @param outOfMemoryNoted when the command of {@code -XX:OnOutOfMemoryError} was run, if it was
 */
record Traces(
    @Nullable Path directory,
    boolean hooksLeft,
    List<Statement> statements,
    @Nullable Instant outOfMemoryNoted) {
  /** Deleted by the JVM itself after its last shutdown hook: see {@code RunDirectory}. */
  static final String HOOKS = "hooks";

  /** Written by {@code cairn note}. */
  static final String NOTE = "note-oom";

  static final Traces NONE = new Traces(null, false, List.of(), null);

  private static final Comparator<Statement> BY_TIME =
      Comparator.comparing(
          statement -> statement.at() == null ? Instant.MAX : statement.at(),
          Comparator.naturalOrder());

  /** Looks into a run's directory; never fails. */
  static Traces in(Path directory) {
    List<Statement> statements = Statement.in(directory);
    statements.sort(BY_TIME);
    Map<String, String> note = Statement.lines(directory.resolve(NOTE));
    return new Traces(
        directory,
        Files.exists(directory.resolve(HOOKS), LinkOption.NOFOLLOW_LINKS),
        List.copyOf(statements),
        note == null ? null : Statement.instant(note.get("at")));
  }

  /** {@return these, and a statement that was not written down} */
  Traces with(Statement statement) {
    List<Statement> all = new ArrayList<>(statements);
    all.add(0, statement);
    return new Traces(directory, hooksLeft, List.copyOf(all), outOfMemoryNoted);
  }

  /** {@return the exit status that the first witness to know one gave} */
  OptionalInt exitStatus() {
    for (Statement statement : statements) {
      if (statement.exitStatus().isPresent()) {
        return statement.exitStatus();
      }
    }
    return OptionalInt.empty();
  }
}
