package cairn;

import cairn.format.CounterLayout;
import cairn.format.Hostile;
import cairn.format.Utf8;
import cairn.storage.PrivateFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a small file that says what is in flight: what Kubernetes shows as the reason when a
 * container has died of anything.
 *
 * <p>Any thread; writers exclude each other. Two system calls and some 700 bytes of allocation a
 * write. A failure is counted and said once; nobody else notices. What the file says survives
 * process death once a call returns.
 */
final class TerminationMessage {
  /*
   * The file is a bind mount: it can't be replaced, only overwritten. The kubelet takes at most its
   * last 4,096 bytes; people see less, and its end. So the oldest spans come last, and the headline
   * after them.
   *
   * A death between two system calls must not leave the end of an older message behind a newer one.
   * So each message is one write from the file's begin, as long as the longest before it: spaces in
   * front make up for what it is shorter. A message that a run before this one left is cut off first.
   */

  /** What the kubelet reads at most. */
  static final int MAX_BYTES = 4096;

  private static final int MAX_SPANS = 12;
  private static final int MAX_NAME_BYTES = 120;
  private static final long HOOK_WAIT_MILLIS = 200;

  /** Writes after a failure that are left out: one a second. */
  private static final int PAUSE = 60;

  private static final byte[] ELLIPSIS = "…".getBytes(StandardCharsets.UTF_8);

  private final Path path;
  private final byte[] title;
  private final SpanTable spans;
  private final Clock clock;
  private final Counters counters;
  private final ReentrantLock lock = new ReentrantLock();

  /** The message from the middle on; in front of it room for spaces. */
  private final byte[] bytes = new byte[2 * MAX_BYTES];

  private int end;
  private final SpanTable.Sight sight = new SpanTable.Sight();
  private final SpanNames names;
  private final int[] slots = new int[MAX_SPANS];
  private final long[] states = new long[MAX_SPANS];
  private final long[] begins = new long[MAX_SPANS];
  private int listed;

  private @Nullable RandomAccessFile file;
  private int longest;
  private int pause;
  private byte @Nullable [] uncaught;
  private boolean uncaughtInMain;
  private @Nullable String ending;
  private long endingMillis;
  private boolean closed;

  /**
   * Opens nothing yet.
   *
   * @param title of the message, such as the run's id
   */
  TerminationMessage(Path path, String title, SpanTable spans, Clock clock, Counters counters) {
    this.path = path;
    this.title = title.getBytes(StandardCharsets.UTF_8);
    this.spans = spans;
    this.clock = clock;
    this.counters = counters;
    this.names = new SpanNames(spans.slotSize());
  }

  /** Writes what is in flight now. */
  void write() {
    lock.lock();
    try {
      if (!closed) {
        writeNow();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Names from now on an exception that nothing caught: its type and thread, not its message, which
   * anybody who may see the pod could read.
   */
  void uncaught(Thread thread, Throwable thrown) {
    byte[] text =
        (thrown.getClass().getName() + " on thread " + thread.getName())
            .getBytes(StandardCharsets.UTF_8);
    lock.lock();
    try {
      uncaught = text;
      uncaughtInMain = LifeCycle.isMain(thread);
    } finally {
      lock.unlock();
    }
  }

  /** Says from now on that the JVM is shutting down. Waits only shortly for another writer. */
  void ending(LifeCycle.End why) {
    String signal = why.signal();
    if (signal != null) {
      last(signal, false);
    } else if ("RETURNED".equals(why.reason())) {
      last(uncaughtInMain ? "uncaught exception" : "returned", false);
    } else {
      last(why.status() == null ? "exit" : "exit " + why.status(), false);
    }
  }

  /** Says that the run ended in order, and writes nothing any more. */
  void close() {
    last("recorder closed", true);
  }

  private void last(String why, boolean close) {
    boolean locked = false;
    try {
      locked = lock.tryLock(HOOK_WAIT_MILLIS, TimeUnit.MILLISECONDS);
      if (!locked || closed) {
        return; // a file system that hangs must not hold up the end of the JVM
      }
      if (ending == null) {
        ending = why;
        endingMillis = clock.wallMillis();
      }
      pause = 0;
      closed = close;
      writeNow();
      if (close && file != null) {
        file.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      counters.increment(CounterLayout.MESSAGE_ERRORS);
    } finally {
      if (locked) {
        lock.unlock();
      }
    }
  }

  private void writeNow() {
    if (pause > 0) {
      pause--;
      return;
    }
    try {
      RandomAccessFile target = file;
      if (target == null) {
        target = open();
        file = target;
      }
      compose();
      int length = end - MAX_BYTES;
      longest = Math.max(longest, length);
      Arrays.fill(bytes, end - longest, MAX_BYTES, (byte) ' ');
      target.seek(0);
      target.write(bytes, end - longest, longest);
    } catch (Throwable e) {
      pause = PAUSE;
      counters.increment(CounterLayout.MESSAGE_ERRORS);
      warn(e);
    }
  }

  private void warn(Throwable cause) {
    try {
      Log.warnOnce(
          "termination message was not written: file=" + path + ", reason=" + cause, cause);
    } catch (Throwable again) {
      counters.increment(CounterLayout.MESSAGE_ERRORS); // no memory to say so
    }
  }

  /** The kubelet has made the file; else it is made, 0600. */
  private RandomAccessFile open() throws IOException {
    try {
      PrivateFiles.create(path, PrivateFiles.isPosix(path)).close();
    } catch (FileAlreadyExistsException e) {
      if (!Files.isRegularFile(path)) {
        // A pipe would hang until somebody reads it.
        throw new IOException("not a regular file: file=" + path, e);
      }
    }
    RandomAccessFile opened = new RandomAccessFile(path.toFile(), "rw");
    try {
      opened.setLength(0);
    } catch (IOException e) {
      opened.close();
      throw e;
    }
    return opened;
  }

  // The text

  private void compose() {
    end = MAX_BYTES;
    int open = find();
    long nanos = clock.nanos();
    long wallMillis = clock.wallMillis();
    ascii("cairn: ");
    escaped(title, 0, title.length);
    ascii("\n");
    int younger = open - listed;
    if (younger > 0) {
      ascii("  and ");
      number(younger);
      ascii(younger == 1 ? " younger span\n" : " younger spans\n");
    }
    for (int i = listed - 1; i >= 0; i--) {
      if (names.read(spans, slots[i], states[i])) {
        ascii("  ");
        age(nanos - begins[i]);
        ascii("  ");
        escaped(names.bytes, names.from, names.length);
        ascii("\n");
      }
    }
    byte[] exception = uncaught;
    if (exception != null) {
      ascii("  uncaught: ");
      escaped(exception, 0, exception.length);
      ascii("\n");
    }
    if (ending != null) {
      ascii(closed ? "ended in order (" : "shutting down (");
      ascii(ending);
      ascii(") since ");
      time(endingMillis);
      ascii("; ");
    }
    if (open == 0) {
      ascii("no span in flight");
    } else {
      number(open);
      ascii(open == 1 ? " span in flight, oldest " : " spans in flight, oldest ");
      age(nanos - begins[0]);
      if (names.read(spans, slots[0], states[0])) {
        ascii(": ");
        escaped(names.bytes, names.from, names.length);
      }
    }
    ascii(", as of ");
    time(wallMillis);
    ascii("\n");
  }

  /** Finds the oldest spans, oldest first, and returns how many are open. */
  private int find() {
    int open = 0;
    listed = 0;
    for (int i = 0; i < spans.slotCount(); i++) {
      if (!spans.look(i, sight)) {
        continue;
      }
      open++;
      int at = listed;
      while (at > 0 && begins[at - 1] > sight.nanos) {
        at--;
      }
      if (at == MAX_SPANS) {
        continue;
      }
      listed = Math.min(MAX_SPANS, listed + 1);
      int moved = listed - 1 - at;
      System.arraycopy(slots, at, slots, at + 1, moved);
      System.arraycopy(states, at, states, at + 1, moved);
      System.arraycopy(begins, at, begins, at + 1, moved);
      slots[at] = i;
      states[at] = sight.state;
      begins[at] = sight.nanos;
    }
    return open;
  }

  private void ascii(String text) {
    for (int i = 0; i < text.length(); i++) {
      bytes[end++] = (byte) text.charAt(i);
    }
  }

  /** Adds UTF-8, cut, with what could do harm escaped. */
  private void escaped(byte[] utf8, int from, int length) {
    int limit = end + MAX_NAME_BYTES - ELLIPSIS.length;
    for (int at = from; at < from + length; ) {
      long decoded = Utf8.decode(utf8, at, from + length);
      int codePoint = Utf8.codePoint(decoded);
      int size = Utf8.length(decoded);
      boolean isHostile = Hostile.is(codePoint);
      if (end + (isHostile ? "\\u{10ffff}".length() : Math.max(size, 3)) > limit) {
        System.arraycopy(ELLIPSIS, 0, bytes, end, ELLIPSIS.length);
        end += ELLIPSIS.length;
        return;
      }
      if (isHostile) {
        ascii("\\u{");
        hex(codePoint);
        ascii("}");
      } else if (codePoint == Utf8.REPLACEMENT) {
        ascii("?");
      } else {
        System.arraycopy(utf8, at, bytes, end, size);
        end += size;
      }
      at += size;
    }
  }

  private void hex(int codePoint) {
    int shift = 20;
    while (shift > 0 && codePoint >>> shift == 0) {
      shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
      bytes[end++] = (byte) Character.forDigit(codePoint >>> shift & 15, 16);
    }
  }

  private void number(long value) {
    long power = 1;
    while (value / power >= 10) {
      power *= 10;
    }
    for (; power > 0; power /= 10) {
      bytes[end++] = (byte) ('0' + value / power % 10);
    }
  }

  private void age(long nanos) {
    long seconds = Math.max(0, nanos) / 1_000_000_000L;
    if (seconds < 120) {
      number(seconds);
      ascii(" s");
    } else if (seconds < 7_200) {
      number(seconds / 60);
      ascii(" min");
    } else {
      number(seconds / 3_600);
      ascii(" h");
    }
  }

  /** Adds the time of the day in UTC. */
  private void time(long wallMillis) {
    int second = (int) Math.floorMod(wallMillis / 1_000, 86_400L);
    two(second / 3_600);
    ascii(":");
    two(second / 60 % 60);
    ascii(":");
    two(second % 60);
    ascii("Z");
  }

  private void two(int value) {
    bytes[end++] = (byte) ('0' + value / 10);
    bytes[end++] = (byte) ('0' + value % 10);
  }
}
