package cairn.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Set;

/**
 * A bare loop over a file: what a durable write costs if nothing else is done. Any thread; one lock
 * around write and force, which costs a single thread nothing that shows beside a force.
 */
final class RawTarget implements Target {
  /** Small enough to make in no time; at its end a preallocated file is written from its start. */
  private static final int PREALLOCATED_BYTES = 32 << 20;

  private final Path file;
  private final FileChannel channel;
  private final int capacityBytes;
  private final int forceEvery;
  private final boolean metadata;
  private final boolean writesThrough;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(DurableContender.RECORD_BYTES);
  private long position;
  private long records;
  private int unforced;
  private long forces;
  private int lastIndex;

  private RawTarget(
      Path file, int capacityBytes, int forceEvery, boolean metadata, boolean writesThrough)
      throws IOException {
    this.file = file;
    this.capacityBytes = capacityBytes;
    this.forceEvery = forceEvery;
    this.metadata = metadata;
    this.writesThrough = writesThrough;
    Set<OpenOption> options =
        writesThrough
            ? Set.of(StandardOpenOption.WRITE, StandardOpenOption.DSYNC)
            : Set.of(StandardOpenOption.WRITE);
    channel = FileChannel.open(file, options);
  }

  /**
   * A file that grows.
   *
   * @param metadata whether a force takes the time stamps along, as {@code fsync} does
   */
  static RawTarget growing(Path directory, int forceEvery, boolean metadata) throws IOException {
    Path file = Files.createFile(directory.resolve("raw.log"));
    return new RawTarget(file, Integer.MAX_VALUE, forceEvery, metadata, false);
  }

  /** A file that was written and forced before. */
  static RawTarget preallocated(Path directory, int forceEvery) throws IOException {
    return new RawTarget(preallocate(directory), PREALLOCATED_BYTES, forceEvery, false, false);
  }

  /** A file that was written and forced before, and that each write forces by itself. */
  static RawTarget writeThrough(Path directory) throws IOException {
    return new RawTarget(preallocate(directory), PREALLOCATED_BYTES, 0, false, true);
  }

  /** Writes page by page: forces into a file made by large writes took up to a third longer. */
  private static Path preallocate(Path directory) throws IOException {
    Path file = directory.resolve("raw.log");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(4096);
      for (int written = 0; written < PREALLOCATED_BYTES; ) {
        written += channel.write(zeros.clear());
      }
      channel.force(true);
    }
    return file;
  }

  @Override
  public synchronized void record(int index) throws IOException {
    if (position + DurableContender.RECORD_BYTES > capacityBytes) {
      position = 0;
    }
    buffer.clear().put(DurableContender.RECORDS[index]).flip();
    while (buffer.hasRemaining()) {
      position += channel.write(buffer, position);
    }
    lastIndex = index;
    records++;
    if (writesThrough) {
      forces++;
    } else if (++unforced == forceEvery) {
      force();
    }
  }

  private void force() throws IOException {
    channel.force(metadata);
    forces++;
    unforced = 0;
  }

  @Override
  public synchronized void settle() throws IOException {
    if (unforced > 0) {
      force();
    }
  }

  @Override
  public synchronized long forces() {
    return forces;
  }

  @Override
  public synchronized void finish(long calls) throws IOException {
    channel.close();
    Evidence.require(records == calls, "records", records, calls);
    byte[] bytes = Files.readAllBytes(file);
    int end = (int) position;
    byte[] last = Arrays.copyOfRange(bytes, end - DurableContender.RECORD_BYTES, end);
    byte[] expected = DurableContender.RECORDS[lastIndex];
    Evidence.require(Arrays.equals(last, expected), "last record", new String(last), "its bytes");
  }
}
