package cairn.report;

import java.nio.file.Path;
import java.time.Instant;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What the machine that reads a report can say about itself. Never throws; unknown is null. */
interface HostFacts {
  /** {@return the wall clock} */
  Instant now();

  /** {@return the kernel's boot id} */
  @Nullable String bootId();

  /** {@return when the kernel booted} */
  @Nullable Instant bootedAt();

  /** {@return the host name} */
  @Nullable String hostName();

  /** {@return processes that this kernel's OOM killer killed since boot} */
  OptionalLong nodeOomKills();

  /**
   * {@return processes that the OOM killer killed in a cgroup, if that still exists}
   *
   * @param directory of its memory controller
   * @param inode of that directory, which tells it from a later one of the same name
   */
  default OptionalLong cgroupOomKills(String directory, long inode) {
    return OptionalLong.empty();
  }

  /** {@return what tells this machine from others, as the recorder has it} */
  default @Nullable String hostId() {
    return null;
  }

  /** {@return bytes of memory of the machine} */
  OptionalLong memoryBytes();

  /** {@return when a regular file was last modified, and its beginning; null if there is none} */
  @Nullable HostFile file(Path path);

  /**
   * {@return whether that process lives on this machine, seen from the same pid namespace}
   *
   * @param start clock ticks after boot, which tell it from a later one of the same pid
   */
  default boolean isAlive(long pid, long start, String pidNamespace) {
    return false;
  }

  /**
   * A file beside the box.
   *
   * @param modified when it was last written
   * @param head its first 64 KiB, as text
   */
  record HostFile(Instant modified, String head) {}
}
