package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.Storage;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * How far a consumer has got, kept in a file of two copies.
 *
 * <p>One writer; anyone reads.
 */
final class Position implements Closeable {
  /*
   *   0        8            16           24   28
   *   | magic  | generation | sequence   | 0  | crc32c |      once at 0, once at 4,096
   *
   * A new value goes into the copy with the lower generation, forced; the other copy is not touched until
   * that has returned. So power loss leaves the old value or the new one, and a damaged byte costs one copy.
   */

  private static final long MAGIC = 0x4E534F504E524943L; // CIRNPOSN as it stands in the file
  private static final int COPY_BYTES = 32;
  private static final int[] COPIES = {0, 4096};
  private static final int FILE_BYTES = 8192;

  private final Storage.Output output;
  private long generation;
  private long sequence;

  private Position(Storage.Output output, long generation, long sequence) {
    this.output = output;
    this.generation = generation;
    this.sequence = sequence;
  }

  static String fileName(String consumer) {
    return JournalLayout.POSITION_PREFIX + consumer;
  }

  /** Opens or makes a consumer's file. */
  static Position open(Storage storage, String consumer) throws IOException {
    String name = fileName(consumer);
    long[] found = read(storage, name);
    boolean exists = storage.list().contains(name);
    if (!exists) {
      String unfinished = ".new-" + name;
      storage.delete(unfinished);
      try (Storage.Output made = storage.create(unfinished)) {
        made.write(0, new byte[FILE_BYTES], 0, FILE_BYTES);
        made.force();
      }
      storage.rename(unfinished, name);
    }
    // Also of one that is there: who made it may have died before this.
    storage.forceDirectory();
    long generation = found == null ? 0 : found[0];
    return new Position(storage.open(name), generation, found == null ? 0 : found[1]);
  }

  /** {@return the acknowledged number of a consumer, 0 if it has none or nothing proves itself} */
  static long read(Storage storage, String name, long otherwise) throws IOException {
    long[] found = read(storage, name);
    return found == null ? otherwise : found[1];
  }

  /** {@return whether nothing was ever acknowledged in that file: all of it is zero} */
  static boolean isUnused(Storage storage, String name) throws IOException {
    byte[] all = new byte[FILE_BYTES];
    try (Storage.Input input = storage.read(name)) {
      int length = input.read(0, all, 0, all.length);
      boolean isZero = length == all.length;
      for (byte b : all) {
        isZero &= b == 0;
      }
      return isZero;
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  private static long @Nullable [] read(Storage storage, String name) throws IOException {
    long[] best = null;
    try (Storage.Input input = storage.read(name)) {
      byte[] copy = new byte[COPY_BYTES];
      for (int at : COPIES) {
        if (input.read(at, copy, 0, COPY_BYTES) == COPY_BYTES) {
          ByteBuffer words = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
          boolean isSound = words.getLong(0) == MAGIC && words.getInt(28) == checksum(copy);
          if (isSound && (best == null || words.getLong(8) > best[0])) {
            best = new long[] {words.getLong(8), words.getLong(16)};
          }
        }
      }
    } catch (NoSuchFileException e) {
      return null;
    } catch (FileNotFoundException e) { // what RandomAccessFile says of a missing permission
      throw new IOException(
          "position file is not readable: file="
              + storage
              + "/"
              + name
              + " (give it to the user of the journal, or delete it if its consumer is no more)",
          e);
    }
    return best;
  }

  private static int checksum(byte[] copy) {
    CRC32C crc = new CRC32C();
    crc.update(copy, 0, 28);
    return (int) crc.getValue();
  }

  long sequence() {
    return sequence;
  }

  /** Survives power loss once it returns; after an error the old value or the new one is there. */
  void write(long newSequence) throws IOException {
    ByteBuffer words = ByteBuffer.allocate(COPY_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    words.putLong(0, MAGIC).putLong(8, generation + 1).putLong(16, newSequence);
    words.putInt(28, checksum(words.array()));
    output.writeForced(COPIES[(int) ((generation + 1) & 1)], words.array(), 0, COPY_BYTES);
    generation++;
    sequence = newSequence;
  }

  @Override
  public void close() throws IOException {
    output.close();
  }
}
