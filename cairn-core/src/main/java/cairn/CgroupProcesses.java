package cairn;

import java.io.Closeable;
import org.jspecify.annotations.Nullable;

/**
 * Counts the processes of this one's cgroup that the OOM killer might choose: all but the small
 * ones that started this one, such as a shell, an init or {@code cairn run}, which are there in any
 * container and wait.
 *
 * <p>One thread. A read is three system calls, in version 1 some more to open the file, and every
 * {@value #KEPT}th as many again for each process that started this one and is in its cgroup.
 */
final class CgroupProcesses implements Closeable {
  private static final long SMALL_BYTES = 64L << 20;
  private static final int MAX_ANCESTORS = 16;
  private static final int MAX_LISTED = 64;

  /** For so many counts an ancestor that was small is taken for small. */
  private static final int KEPT = 16;

  private static final int MAX_BYTES = 1024;

  private final String file;
  private final @Nullable ProcFile kept;
  private final int pageSize;
  private final long[] pids = new long[MAX_LISTED];
  private final long[] ancestors = new long[MAX_ANCESTORS];
  private final boolean[] small = new boolean[MAX_ANCESTORS];
  private int ancestorCount = -1;
  private int counts;

  CgroupProcesses(Cgroup cgroup, int pageSize) {
    this.file = cgroup.processes();
    // In version 1 opened anew: a descriptor that is read once a second shows the same list for
    // ever, since the kernel keeps it until it was not read for a second.
    this.kept = cgroup.version1() ? null : ProcFile.open(file, MAX_BYTES);
    this.pageSize = pageSize;
  }

  /** {@return how many, or unknown} */
  long count() {
    int listed = list();
    if (listed <= 1) {
      return listed == 0 ? ProcFile.UNKNOWN : listed;
    }
    if (ancestorCount < 0) {
      findAncestors();
    }
    if (counts++ % KEPT == 0) {
      for (int i = 0; i < ancestorCount; i++) {
        small[i] = isSmall(ancestors[i]);
      }
    }
    int count = listed;
    for (int i = 0; i < Math.min(listed, MAX_LISTED); i++) {
      if (isSmallAncestor(pids[i])) {
        count--;
      }
    }
    return count;
  }

  private int list() {
    if (kept != null) {
      return kept.read().numbers(pids);
    }
    try (ProcFile processes = ProcFile.open(file, MAX_BYTES)) {
      return processes.read().numbers(pids);
    }
  }

  @Override
  public void close() {
    if (kept != null) {
      kept.close();
    }
  }

  private void findAncestors() {
    ancestorCount = 0;
    long pid = Identity.pid();
    while (pid > 1 && ancestorCount < MAX_ANCESTORS) {
      try (ProcFile stat = ProcFile.open("/proc/" + pid + "/stat", 1024)) {
        stat.read();
        pid = stat.field(stat.afterLast(')'), 1); // field 4 of the page: ppid
      }
      if (pid > 0) {
        ancestors[ancestorCount++] = pid;
      }
    }
  }

  private boolean isSmallAncestor(long pid) {
    for (int i = 0; i < ancestorCount; i++) {
      if (ancestors[i] == pid) {
        return small[i];
      }
    }
    return false;
  }

  private boolean isSmall(long pid) {
    try (ProcFile statm = ProcFile.open("/proc/" + pid + "/statm", 128)) {
      long pages = statm.read().field(0, 1);
      return pages != ProcFile.UNKNOWN && pages * pageSize < SMALL_BYTES;
    }
  }
}
