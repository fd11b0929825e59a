package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.DirectoryLock;
import cairn.storage.Storage;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Hands a journal's entries to one consumer, at least once each, across deaths of the consumer and
 * of the writer.
 *
 * <p>One thread at a time. {@link #next} gives what follows; {@link #acknowledge} says that all up
 * to a number is done with, durably. A consumer that dies gets again what it had not acknowledged.
 */
public final class JournalConsumer implements Closeable {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final String LOCK_SUFFIX = ".lock";
  private static final String OWNER_SUFFIX = ".owner";

  private final String name;
  private final Position position;
  private final JournalFollower follower;
  private final @Nullable DirectoryLock lock;
  private volatile boolean closed;

  JournalConsumer(Storage storage, String name, BooleanSupplier live, @Nullable DirectoryLock lock)
      throws IOException {
    this.name = name;
    this.lock = lock;
    this.position = Position.open(storage, name);
    this.follower = new JournalFollower(storage, position.sequence() + 1, live);
  }

  static void requireName(String name) {
    Objects.requireNonNull(name, "name");
    String folded = name.toLowerCase(Locale.ROOT); // where the file system has one case
    if (!NAME.matcher(name).matches()
        || folded.endsWith(LOCK_SUFFIX)
        || folded.endsWith(OWNER_SUFFIX)) {
      throw new IllegalArgumentException(
          "consumer name is not allowed: name="
              + name.replaceAll("\\p{Cntrl}", "?")
              + " (use letters, digits, '.', '_' and '-', at most 64)");
    }
  }

  static boolean isPositionFile(String file) {
    return file.startsWith(JournalLayout.POSITION_PREFIX)
        && !file.endsWith(LOCK_SUFFIX)
        && !file.endsWith(OWNER_SUFFIX);
  }

  /**
   * {@return the next entry, or null if none came in that time} As {@link JournalFollower#poll}.
   */
  public @Nullable Entry next(Duration timeout) throws IOException {
    return follower.poll(timeout);
  }

  /**
   * Says that all entries up to that number are done with. Survives power loss once it returns; one
   * force. A number that is not higher than the last does nothing.
   *
   * @throws IllegalArgumentException if no such entry was handed over yet
   * @throws IllegalStateException if it is closed
   * @throws IOException if it could not be stored; then the consumer gets them again
   */
  public void acknowledge(long sequence) throws IOException {
    if (closed) {
      throw new IllegalStateException("consumer is closed: name=" + name);
    }
    if (sequence >= follower.nextSequence()) {
      throw new IllegalArgumentException(
          "entry was not handed over yet: sequence="
              + sequence
              + ", limit="
              + (follower.nextSequence() - 1));
    }
    if (sequence > position.sequence()) {
      position.write(sequence);
    }
  }

  /**
   * {@return what was not sound so far, and what retention had deleted before it was handed over}
   */
  public List<JournalFinding> findings() {
    return follower.findings();
  }

  /** {@return the highest number that was acknowledged; 0 for none} */
  public long acknowledged() {
    return position.sequence();
  }

  /** Gives the name free for others; what was not acknowledged comes again. */
  @Override
  public void close() throws IOException {
    closed = true;
    try {
      follower.close();
      position.close();
    } finally {
      if (lock != null) {
        lock.close();
      }
    }
  }

  @Override
  public String toString() {
    return "JournalConsumer[" + name + ", acknowledged=" + acknowledged() + "]";
  }
}
