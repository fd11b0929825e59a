package cairn.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Maps files that were written in full, where a mapped store can neither fail nor go stale. */
public final class MappedFile {
  private static final Set<String> SAFE =
      Set.of("ext2", "ext3", "ext4", "xfs", "tmpfs", "overlay", "apfs", "hfs", "NTFS");

  /** {@return whether files there can be mapped safely} */
  public static boolean isSafe(Path file) {
    try {
      return SAFE.contains(Files.getFileStore(file).type());
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  /** {@return the mapped file, or null if the system can't} */
  public static @Nullable ByteBuffer map(FileChannel channel, int size) {
    try {
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      // The JVM reports an mmap that the kernel refused as an OutOfMemoryError, "Map failed".
      return null;
    }
  }

  private MappedFile() {}
}
