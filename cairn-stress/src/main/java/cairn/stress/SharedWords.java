package cairn.stress;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A mapped file of words that one process writes and another reads; it outlives the writer. */
final class SharedWords {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final MappedByteBuffer words;

  private SharedWords(MappedByteBuffer words) {
    this.words = words;
  }

  /** Makes the file, all zero. */
  static SharedWords create(Path file, long bytes) throws IOException {
    return map(file, bytes, StandardOpenOption.CREATE_NEW);
  }

  /** Opens the file that {@link #create} made. */
  static SharedWords open(Path file) throws IOException {
    return map(file, Files.size(file), StandardOpenOption.CREATE);
  }

  private static SharedWords map(Path file, long bytes, StandardOpenOption create)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, create, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new SharedWords(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes));
    }
  }

  int bytes() {
    return words.capacity();
  }

  /** All that the thread stored before is seen by who gets this value. */
  void putRelease(int offset, long value) {
    LONG.setRelease((ByteBuffer) words, offset, value);
  }

  long getAcquire(int offset) {
    return (long) LONG.getAcquire((ByteBuffer) words, offset);
  }
}
