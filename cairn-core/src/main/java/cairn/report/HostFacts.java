package cairn.report;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
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

  /** {@return a file where an hs_err file may be; null if there is no regular file} */
  default CrashFile.@Nullable Dated crashFile(Path path) {
    HostFile file = file(path);
    return file == null
        ? null
        : new CrashFile.Dated(
            file.modified(),
            CrashFile.read(new ByteArrayInputStream(file.head().getBytes(StandardCharsets.UTF_8))));
  }

  /** {@return the heap dump at that place; null if there is none} */
  default @Nullable HeapDump heapDump(Path path) {
    return null;
  }

  /** {@return the performance counters that the run's JVM left here; null if there are none} */
  default @Nullable PerfData counters(Salvage run) {
    return null;
  }

  /**
   * A file beside the box.
   *
   * @param modified when it was last written
   * @param head its first 64 KiB, as text
   */
  record HostFile(Instant modified, String head) {}
}
