package cairn;

import cairn.storage.Region;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Copy mode: writes the pages of a region in memory that have changed to the box file.
 *
 * <p>Any thread; calls exclude each other. What was recorded survives process death once a {@link
 * #copy} that began after it has returned.
 */
final class BoxCopier implements Closeable {
  /*
   * A page is compared with what was last written of it and written whole. Application threads store
   * into it meanwhile: a torn record fails its checksum until the next copy brings the rest, and the
   * last copy of a run is made when nothing is stored any more.
   */

  private static final int PAGE = 4096;

  // Not a FileChannel: that one closes itself under an interrupted thread, and copies are also made
  // on threads of the application.
  private final RandomAccessFile file;
  private final ByteBuffer source;

  /** What the file holds. */
  private final ByteBuffer written;

  /** Over a file of the region's size that is all zeros. */
  BoxCopier(Path box, Region region) throws IOException {
    this.file = new RandomAccessFile(box.toFile(), "rw");
    this.source = region.view();
    this.written = ByteBuffer.allocate(region.size());
  }

  synchronized void copy() throws IOException {
    for (int page = 0; page < source.capacity(); page += PAGE) {
      int end = Math.min(page + PAGE, source.capacity());
      source.limit(end).position(page);
      written.limit(end).position(page);
      if (source.mismatch(written) >= 0) {
        // Through the second buffer: what is compared next time is what was written now.
        written.put(source);
        file.seek(page);
        file.write(written.array(), page, end - page);
      }
    }
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }
}
