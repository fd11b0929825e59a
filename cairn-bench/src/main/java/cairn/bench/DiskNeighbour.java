package cairn.bench;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A neighbour that keeps the disk busy: files of 256 MB, one after the other, each forced to the
 * device. Ends by itself.
 */
public final class DiskNeighbour {
  private static final int FILE_BYTES = 256 << 20;

  private DiskNeighbour() {}

  /** Arguments: a directory, seconds. */
  public static void main(String[] args) throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[1]));
    ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
    int files = 0;
    while (System.nanoTime() < end) {
      Path file = Path.of(args[0], "neighbour-" + files++ % 2);
      try (FileChannel channel = FileChannel.open(file, CREATE, TRUNCATE_EXISTING, WRITE)) {
        for (int written = 0; written < FILE_BYTES && System.nanoTime() < end; ) {
          written += channel.write(buffer.clear());
        }
        channel.force(false);
      }
    }
    System.out.println(Child.result("files", files));
  }
}
