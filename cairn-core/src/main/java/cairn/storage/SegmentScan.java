package cairn.storage;

import cairn.format.FrameSeal;
import cairn.format.JournalLayout;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the frames of one segment or staging file that prove themselves, in the order of the file.
 *
 * <p>One thread; never writes, never throws on damage, never allocates more than the file's size. A
 * living writer may append meanwhile: call {@link #next} again to see it.
 */
public final class SegmentScan implements Closeable {
  /*
   * At each multiple of 32 there is a frame that proves itself (bounds before anything is allocated,
   * then the header's checksum, then that over nonce, place and bytes), or there is not. If not, the next multiple is
   * tried: one damaged byte costs the frame it is in. All bytes that were passed over are reported as
   * one problem if any of them isn't zero, with the check that the first of them failed.
   *
   * Numbers only grow in a file; a frame whose number goes back proves nothing (an entry may quote another).
   */

  /** Told what is not sound. */
  public interface Problems {
    /**
     * Called for each place that is not sound.
     *
     * @param file name within the directory
     * @param offset where it begins
     * @param text what is wrong, with its values
     */
    void found(String file, long offset, String text);
  }

  private static final int WINDOW = 64 * 1024;

  private final String file;
  private final Storage.Input input;
  private final Problems problems;
  private final boolean ordered;
  private byte[] window = {};
  private ByteBuffer words = ByteBuffer.wrap(window).order(ByteOrder.LITTLE_ENDIAN);
  private long windowStart;
  private int windowLength;

  private final @Nullable ByteBuffer header;
  private final FrameSeal seal;
  private final long end;
  private long offset = JournalLayout.FRAMES_OFFSET;
  private long skippedFrom = -1;
  private @Nullable String skippedWhy;
  private long problemEnd = JournalLayout.FRAMES_OFFSET;

  private @Nullable BooleanSupplier mayGrow;
  private boolean lookedAgain;

  private int at;
  private long sequence;
  private int length;

  private SegmentScan(
      String file,
      Storage.Input input,
      Problems problems,
      boolean ordered,
      @Nullable ByteBuffer header,
      long end) {
    this.file = file;
    this.input = input;
    this.problems = problems;
    this.ordered = ordered;
    this.header = header;
    this.end = end;
    this.seal = new FrameSeal(header == null ? 0 : header.getLong(JournalLayout.NONCE_OFFSET));
  }

  /**
   * Opens a file.
   *
   * @param ordered whether numbers may only grow: in a segment, not in a staging file
   * @throws IOException if the file can't be read at all
   */
  public static SegmentScan open(Storage storage, String file, boolean ordered, Problems problems)
      throws IOException {
    Storage.Input input = storage.read(file);
    boolean done = false;
    try {
      long size = input.size();
      ByteBuffer header = header(input, file, size, problems);
      long end =
          header == null
              ? 0
              : Math.min(size, header.getLong(JournalLayout.FILE_LENGTH_OFFSET))
                  - (header.getInt(JournalLayout.KIND_OFFSET) == JournalLayout.KIND_STAGING
                          || size < header.getLong(JournalLayout.FILE_LENGTH_OFFSET)
                      ? 0
                      : JournalLayout.HEADER_SIZE);
      SegmentScan scan = new SegmentScan(file, input, problems, ordered, header, end);
      long named = SegmentName.number(file);
      if (header != null && named >= 0 && named != scan.number()) {
        problems.found(
            file,
            JournalLayout.NUMBER_OFFSET,
            "segment was copied or renamed: number="
                + scan.number()
                + ", name="
                + named
                + " (what it holds may be passed over)");
      }
      done = true;
      return scan;
    } finally {
      if (!done) {
        input.close();
      }
    }
  }

  private static @Nullable ByteBuffer header(
      Storage.Input input, String file, long size, Problems problems) throws IOException {
    byte[] bytes = new byte[JournalLayout.HEADER_SIZE];
    String first = headerProblem(input, 0, size, bytes);
    if (first == null) {
      ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      long length = header.getLong(JournalLayout.FILE_LENGTH_OFFSET);
      if (size < length) {
        problems.found(file, size, "file is truncated: length=" + size + ", written=" + length);
      } else if (header.getInt(JournalLayout.KIND_OFFSET) != JournalLayout.KIND_STAGING) {
        String second =
            headerProblem(input, length - JournalLayout.HEADER_SIZE, size, new byte[bytes.length]);
        if (second != null) {
          problems.found(
              file,
              length - JournalLayout.HEADER_SIZE,
              "second header is not sound, the first is: " + second);
        }
      }
      return header;
    }
    String second = headerProblem(input, size - JournalLayout.HEADER_SIZE, size, bytes);
    if (second == null) {
      problems.found(file, 0, "header is not sound, the second one is: " + first);
      return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
    problems.found(file, 0, size == 0 ? "file is empty" : "no header is sound: " + first);
    return null;
  }

  /** {@return what is wrong with the header at that offset, or null} */
  private static @Nullable String headerProblem(
      Storage.Input input, long offset, long size, byte[] bytes) throws IOException {
    if (offset < 0 || offset + bytes.length > size) {
      return "file is too short: length=" + size;
    }
    if (input.read(offset, bytes, 0, bytes.length) < bytes.length) {
      return "file is too short: length=" + size;
    }
    ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    long magic = header.getLong(JournalLayout.MAGIC_OFFSET);
    if (magic != JournalLayout.MAGIC) {
      return magic == 0 ? "it is zero" : "foreign: magic=0x" + Long.toHexString(magic);
    }
    int stored = header.getInt(JournalLayout.HEADER_CRC_OFFSET);
    int computed = JournalLayout.headerCrc(bytes);
    if (stored != computed) {
      return "checksum mismatch: stored=0x"
          + Integer.toHexString(stored)
          + ", computed=0x"
          + Integer.toHexString(computed);
    }
    int major = header.getShort(JournalLayout.MAJOR_OFFSET) & 0xFFFF;
    if (major != JournalLayout.MAJOR) {
      return "file is from a newer version: file="
          + major
          + "."
          + (header.getShort(JournalLayout.MINOR_OFFSET) & 0xFFFF)
          + ", reader="
          + JournalLayout.MAJOR
          + "."
          + JournalLayout.MINOR
          + " (use a newer cairn)";
    }
    if (header.getLong(JournalLayout.FILE_LENGTH_OFFSET) < JournalLayout.FRAMES_OFFSET) {
      return "file length in the header is too small";
    }
    return null;
  }

  /**
   * Says that a writer may be at work in this file: what it is about to write is no damage.
   *
   * @param isLiving asked only when something looks damaged
   */
  public void mayGrow(BooleanSupplier isLiving) {
    mayGrow = isLiving;
  }

  private boolean grows() {
    return mayGrow != null && mayGrow.getAsBoolean();
  }

  /** {@return whether a header is sound; without one there are no frames} */
  public boolean hasHeader() {
    return header != null;
  }

  private long headerLong(int at) {
    return header == null ? 0 : header.getLong(at);
  }

  /** {@return what the header says; 0 without one} */
  public int kind() {
    return header == null ? 0 : header.getInt(JournalLayout.KIND_OFFSET);
  }

  public long number() {
    return headerLong(JournalLayout.NUMBER_OFFSET);
  }

  public long firstSequence() {
    return headerLong(JournalLayout.FIRST_SEQUENCE_OFFSET);
  }

  public long createdMillis() {
    return headerLong(JournalLayout.CREATED_OFFSET);
  }

  public long nonce() {
    return headerLong(JournalLayout.NONCE_OFFSET);
  }

  public boolean isAfterError() {
    return header != null
        && (header.getInt(JournalLayout.FLAGS_OFFSET) & JournalLayout.AFTER_ERROR) != 0;
  }

  /** {@return the size of the file as it is now} */
  public long size() throws IOException {
    return input.size();
  }

  /**
   * Goes to the next frame that proves itself.
   *
   * @return false at the end of what is there; more may come if a writer lives
   */
  public boolean next() throws IOException {
    return next(true);
  }

  /**
   * As {@link #next()}, but stops at the first place where no frame is: behind it is nothing yet if
   * a living writer is at work here.
   */
  public boolean nextOfLiving() throws IOException {
    return next(false);
  }

  private boolean next(boolean search) throws IOException {
    long candidate = offset;
    while (candidate + JournalLayout.FRAME_HEADER_SIZE <= end) {
      String why = unsound(candidate);
      if (why == null) {
        if (skippedFrom >= 0 && !lookedAgain && grows()) {
          // It came while we looked: a write and a read are not one step. What is before it is
          // there now.
          lookedAgain = true;
          skippedFrom = -1;
          refresh();
          candidate = offset;
          continue;
        }
        lookedAgain = false;
        reportSkipped(candidate);
        offset = candidate + JournalLayout.aligned(length);
        return true;
      }
      if (!search) {
        return false;
      }
      if (skippedFrom < 0 && !why.isEmpty()) {
        skippedFrom = candidate;
        skippedWhy = why;
      }
      candidate += JournalLayout.ALIGNMENT;
    }
    if (skippedFrom < 0 || !grows()) {
      reportSkipped(end);
    }
    skippedFrom = -1;
    return false;
  }

  /** Reports, once, what was passed over up to there. */
  private void reportSkipped(long to) {
    if (skippedFrom >= problemEnd) {
      problems.found(
          file,
          skippedFrom,
          "not a sound record, " + (to - skippedFrom) + " bytes passed over: " + skippedWhy);
      problemEnd = to;
    }
    skippedFrom = -1;
  }

  /** {@return why no frame is there: null if one is, empty if there is nothing at all} */
  private @Nullable String unsound(long candidate) throws IOException {
    int available = window(candidate, JournalLayout.FRAME_HEADER_SIZE);
    if (available < JournalLayout.FRAME_HEADER_SIZE) {
      return "";
    }
    at = (int) (candidate - windowStart);
    long frameSequence = words.getLong(at + JournalLayout.SEQUENCE_OFFSET);
    int frameLength = words.getInt(at + JournalLayout.LENGTH_OFFSET);
    if (frameSequence == 0 && frameLength == 0) {
      return isZero(at, JournalLayout.FRAME_HEADER_SIZE) ? "" : "header is damaged";
    }
    if (frameLength < JournalLayout.FRAME_HEADER_SIZE || frameLength > end - candidate) {
      return "length is out of bounds: length=" + frameLength + ", limit=" + (end - candidate);
    }
    if (frameSequence < 0 || (ordered && frameSequence < sequence)) {
      return "sequence goes back: sequence=" + frameSequence + ", previous=" + sequence;
    }
    if (!seal.isSoundHeader(window, at, candidate)) {
      return "checksum mismatch in the header: sequence=" + frameSequence;
    }
    if (window(candidate, frameLength) < frameLength) {
      return "file is truncated: needed=" + frameLength;
    }
    at = (int) (candidate - windowStart);
    if (!seal.isSound(window, at, candidate, frameLength)) {
      return "checksum mismatch: sequence="
          + frameSequence
          + ", "
          + seal.mismatch(window, at, candidate, frameLength);
    }
    sequence = frameSequence;
    length = frameLength;
    return null;
  }

  private boolean isZero(int from, int count) {
    for (int i = from; i < from + count; i++) {
      if (window[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** Brings that many bytes from {@code start} into the window and returns how many are there. */
  private int window(long start, int count) throws IOException {
    if (start >= windowStart && start + count <= windowStart + windowLength) {
      return count;
    }
    if (count > window.length) {
      long wanted = Math.min(Math.max(WINDOW, 2L * window.length), end);
      window = new byte[Math.max(count, (int) wanted)];
      words = ByteBuffer.wrap(window).order(ByteOrder.LITTLE_ENDIAN);
    }
    windowStart = start;
    windowLength =
        input.read(start, window, 0, (int) Math.min(window.length, Math.max(0, end - start)));
    return Math.min(count, windowLength);
  }

  /** Forgets what was read ahead, to see what a living writer has written since. */
  public void refresh() {
    windowLength = 0;
  }

  /** {@return the number of the frame} */
  public long sequence() {
    return sequence;
  }

  /** {@return where it lies in the file} */
  public long frameOffset() {
    return windowStart + at;
  }

  /** {@return when it was made} */
  public long millis() {
    return words.getLong(at + JournalLayout.TIME_OFFSET);
  }

  /** {@return its type} */
  public int type() {
    return words.getShort(at + JournalLayout.TYPE_OFFSET) & 0xFFFF;
  }

  /** {@return a copy of its payload} */
  public byte[] payload() {
    int from = at + JournalLayout.FRAME_HEADER_SIZE;
    return java.util.Arrays.copyOfRange(window, from, at + length);
  }

  /** {@return how long its payload is} */
  public int payloadLength() {
    return length - JournalLayout.FRAME_HEADER_SIZE;
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
