package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.DirectoryLock;
import cairn.storage.DiskStorage;
import cairn.storage.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads a journal, from any process, of a living writer or a dead one.
 *
 * <p>Any thread, each call on its own. Takes no lock, writes nothing, never throws on damage: what
 * is not sound is passed over and is a {@link JournalFinding}. Memory: one record and a window of
 * 64 KiB, and what waits in the staging file.
 */
public final class JournalReader {
  private final Storage storage;
  private final BooleanSupplier live;

  JournalReader(Storage storage, BooleanSupplier live) {
    this.storage = storage;
    this.live = live;
  }

  /**
   * Reads the journal in that directory; nothing is opened yet.
   *
   * @throws IOException if there is no such directory
   */
  public static JournalReader of(Path directory) throws IOException {
    Objects.requireNonNull(directory, "directory");
    if (!Files.isDirectory(directory)) {
      throw new IOException("no such directory: dir=" + directory);
    }
    return new JournalReader(new DiskStorage(directory), () -> DirectoryLock.isHeld(directory));
  }

  /** {@return whether a process holds the journal open for writing} */
  public boolean isLive() {
    return live.getAsBoolean();
  }

  /**
   * Hands over all entries, oldest first: those that survive process death now.
   *
   * @return what was not sound
   * @throws IOException if a file can't be read, or from the handler
   */
  public List<JournalFinding> replay(EntryHandler handler) throws IOException {
    return replay(1, handler);
  }

  /** As {@link #replay(EntryHandler)}, from that number on. */
  public List<JournalFinding> replay(long fromSequence, EntryHandler handler) throws IOException {
    Objects.requireNonNull(handler, "handler");
    List<JournalFinding> findings = new ArrayList<>();
    try (JournalCursor cursor = new JournalCursor(storage, fromSequence, live, findings)) {
      for (JournalCursor.Frame frame; (frame = cursor.next()) != null; ) {
        if (isEntry(frame)) {
          handler.entry(entry(frame));
        }
      }
    }
    return findings;
  }

  /**
   * As {@link #replay(EntryHandler)}, those that were appended at that time or later, by the
   * writer's wall clock. Reads all segments: that clock may have been set back.
   */
  public List<JournalFinding> replay(Instant from, EntryHandler handler) throws IOException {
    Objects.requireNonNull(from, "from");
    Objects.requireNonNull(handler, "handler");
    return replay(
        1,
        entry -> {
          if (!entry.time().isBefore(from)) {
            handler.entry(entry);
          }
        });
  }

  /**
   * {@return the newest entries, oldest first: {@code count} of them, or all if there are fewer}
   */
  public List<Entry> last(int count) throws IOException {
    if (count < 0) {
      throw new IllegalArgumentException("count is negative: count=" + count);
    }
    long last = lastSequence();
    long span = count;
    while (true) {
      long from = Math.max(1, last - span + 1);
      Deque<Entry> newest = new ArrayDeque<>();
      replay(
          from,
          entry -> {
            newest.add(entry);
            if (newest.size() > count) {
              newest.remove();
            }
          });
      if (newest.size() >= count || from == 1) {
        return new ArrayList<>(newest);
      }
      span = span > Long.MAX_VALUE / 4 ? Long.MAX_VALUE / 2 : 4 * span; // numbers were missing
    }
  }

  /** {@return the highest number that is there; 0 if there is none} */
  public long lastSequence() throws IOException {
    return JournalRecovery.lastSequence(storage);
  }

  /** {@return what the files hold and what is wrong with them} Reads all of them. */
  public JournalHealth verify() throws IOException {
    List<JournalFinding> findings = new ArrayList<>();
    long first = 0;
    long entries = 0;
    long entryBytes = 0;
    long staged = 0;
    boolean isLive = isLive();
    try (JournalCursor cursor = new JournalCursor(storage, 1, live, findings)) {
      for (JournalCursor.Frame frame; (frame = cursor.next()) != null; ) {
        if (isEntry(frame)) {
          first = first == 0 ? frame.sequence() : first;
          entries++;
          entryBytes += frame.payload().length;
          staged += cursor.isInStaging() ? 1 : 0;
        }
      }
      List<JournalHealth.Segment> segments = new ArrayList<>();
      long bytes = 0;
      for (JournalCursor.SegmentView view : cursor.views()) {
        segments.add(
            new JournalHealth.Segment(
                view.name,
                view.firstSequence,
                view.lastSequence,
                view.entries,
                view.bytes,
                instant(view.createdMillis),
                instant(view.newestMillis),
                view.isAfterError));
        bytes += view.bytes;
      }
      return new JournalHealth(
          first,
          entries == 0 ? 0 : cursor.last(),
          entries,
          entryBytes,
          staged,
          bytes,
          segments,
          cursor.given(),
          consumers(storage, findings),
          cursor.foreignFrames(),
          isLive,
          findings);
    }
  }

  private static @Nullable Instant instant(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis);
  }

  static boolean isEntry(JournalCursor.Frame frame) {
    return frame.type() == JournalLayout.TYPE_BYTES || frame.type() == JournalLayout.TYPE_EVENT;
  }

  static Entry entry(JournalCursor.Frame frame) {
    return new Entry(frame.sequence(), frame.millis(), frame.type(), frame.payload());
  }

  /** {@return the acknowledged numbers by consumer; 0 where none proves itself} */
  static Map<String, Long> consumers(Storage storage) throws IOException {
    return consumers(storage, new ArrayList<>());
  }

  private static Map<String, Long> consumers(Storage storage, List<JournalFinding> findings)
      throws IOException {
    Map<String, Long> consumers = new HashMap<>();
    for (String name : storage.list()) {
      if (JournalConsumer.isPositionFile(name)) {
        long position = Position.read(storage, name, -1);
        if (position < 0 && !Position.isUnused(storage, name)) {
          findings.add(
              new JournalFinding(
                  name, 0, true, "position is damaged: its consumer gets all entries again"));
        }
        consumers.put(
            name.substring(JournalLayout.POSITION_PREFIX.length()), Math.max(0, position));
      }
    }
    return consumers;
  }

  /**
   * {@return a follower of the entries from that number on} It gets an entry once its batch is in a
   * segment: under {@code power} and {@code bounded} with its force, at the earliest while that is
   * under way; under {@code process} within some 100 ms.
   */
  public JournalFollower follow(long fromSequence) {
    return new JournalFollower(storage, fromSequence, live);
  }

  /**
   * Opens a consumer, which keeps its position durably.
   *
   * @param name letters, digits, {@code . _ -}; at most 64
   * @throws JournalLockedException if another has it open
   * @throws IOException if its file can't be made or read
   */
  public JournalConsumer consumer(String name) throws IOException {
    JournalConsumer.requireName(name);
    JournalRecovery.requireJournal(storage);
    if (!(storage instanceof DiskStorage)) {
      return new JournalConsumer(storage, name, live, null);
    }
    try {
      DirectoryLock lock =
          DirectoryLock.take(
              Path.of(storage.toString()), Position.fileName(name) + ".lock", "consumer");
      boolean done = false;
      try {
        JournalConsumer consumer = new JournalConsumer(storage, name, live, lock);
        done = true;
        return consumer;
      } finally {
        if (!done) {
          lock.close();
        }
      }
    } catch (DirectoryLock.HeldException e) {
      throw new JournalLockedException(e);
    }
  }

  @Override
  public String toString() {
    return "JournalReader[" + storage + "]";
  }
}
