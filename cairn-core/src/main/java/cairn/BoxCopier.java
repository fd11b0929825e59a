package cairn;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

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

  private final FileChannel file;
  private final ByteBuffer source;
  private final ByteBuffer written;

  /** Over a file of the region's size that is all zeros. */
  BoxCopier(FileChannel file, Region region) {
    this.file = file;
    this.source = region.view();
    this.written = ByteBuffer.allocateDirect(region.size());
  }

  synchronized void copy() throws IOException {
    for (int page = 0; page < source.capacity(); page += PAGE) {
      int end = Math.min(page + PAGE, source.capacity());
      source.limit(end).position(page);
      written.limit(end).position(page);
      if (source.mismatch(written) < 0) {
        continue;
      }
      // Through the second buffer: what is compared next time is what was written now.
      written.put(source);
      written.position(page);
      int at = page;
      while (at < end) {
        at += file.write(written, at);
      }
    }
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }
}
