package cairn;

import cairn.format.VitalsLayout;
import com.sun.management.UnixOperatingSystemMXBean;
import java.io.Closeable;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the vitals come from: cheap sources only, none that needs a safepoint. What can't be read
 * is unknown.
 *
 * <p>One thread at a time.
 */
final class VitalsSources implements Closeable, Pressure.Gauges {
  // Linux's USER_HZ, the unit of /proc/self/stat, has been 100 on every architecture Java runs on.
  private static final int MILLIS_PER_TICK = 10;
  private static final int DEFAULT_PAGE_SIZE = 4096;
  private static final long NO_LIMIT = 1L << 60;
  private static final long AT_PAGESZ = 6; // elf.h

  private final ProcFile statm = ProcFile.open("/proc/self/statm", 128);
  private final ProcFile stat = ProcFile.open("/proc/self/stat", 1024);
  private final ProcFile vmstat = ProcFile.open("/proc/vmstat", 16384);
  private final ProcFile cgroupUsage;
  private final ProcFile cgroupLimit;
  private final ProcFile cgroupEvents;
  private final Cgroup cgroup;
  private final CgroupProcesses cgroupProcesses;
  private final int pageSize = pageSize();
  private @Nullable ProcFile cgroupStat;
  private @Nullable Beans beans;

  /** What needs the management classes, which take some 50 ms of a cold JVM to load. */
  private static final class Beans {
    final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    final List<MemoryPoolMXBean> heapPools = new ArrayList<>();
    final @Nullable UnixBean unix = unix();
    final @Nullable AllocationBean allocation = allocation();

    Beans() {
      for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
        if (pool.getType() == MemoryType.HEAP) {
          heapPools.add(pool);
        }
      }
    }

    private static @Nullable UnixBean unix() {
      try {
        return UnixBean.find();
      } catch (LinkageError e) {
        return null; // a run-time image without the module jdk.management
      }
    }

    private static @Nullable AllocationBean allocation() {
      try {
        return AllocationBean.find();
      } catch (LinkageError e) {
        return null; // as above
      }
    }
  }

  /** Apart, as {@link UnixBean} is. */
  private record AllocationBean(com.sun.management.ThreadMXBean bean) {
    static @Nullable AllocationBean find() {
      return ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean threads
              && threads.isThreadAllocatedMemorySupported()
              && threads.isThreadAllocatedMemoryEnabled()
          ? new AllocationBean(threads)
          : null;
    }
  }

  /** Apart, so that an image without jdk.management fails here only. */
  private record UnixBean(UnixOperatingSystemMXBean bean) {
    static @Nullable UnixBean find() {
      return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
          ? new UnixBean(unix)
          : null;
    }
  }

  VitalsSources() {
    cgroup = Cgroup.ofThisProcess();
    cgroupUsage = ProcFile.open(cgroup.usage(), 512);
    cgroupLimit = ProcFile.open(cgroup.limit(), 512);
    cgroupEvents = ProcFile.open(cgroup.events(), 512);
    cgroupProcesses = new CgroupProcesses(cgroup, pageSize);
  }

  /** From the auxiliary vector: pairs of words, type and value; 4, 16 or 64 KiB by machine. */
  private static int pageSize() {
    ByteBuffer words =
        ByteBuffer.wrap(ProcFile.bytes("/proc/self/auxv")).order(ByteOrder.nativeOrder());
    while (words.remaining() >= 16) {
      long type = words.getLong();
      long value = words.getLong();
      if (type == AT_PAGESZ) {
        return (int) value;
      }
    }
    return DEFAULT_PAGE_SIZE;
  }

  /** Reads the clocks and what may be near its limit; everything else is unknown then. */
  void readMemory(long[] values, Clock clock) {
    Arrays.fill(values, VitalsLayout.UNKNOWN);
    values[VitalsLayout.WALL_MILLIS] = clock.wallMillis();
    values[VitalsLayout.NANOS] = clock.nanos();
    Runtime runtime = Runtime.getRuntime();
    long committed = runtime.totalMemory();
    values[VitalsLayout.HEAP_USED] = committed - runtime.freeMemory();
    values[VitalsLayout.HEAP_COMMITTED] = committed;
    values[VitalsLayout.HEAP_MAX] = runtime.maxMemory();
    values[VitalsLayout.CGROUP_USAGE] = cgroupUsage.read().field(0, 0);
    long limit = cgroupLimit.read().field(0, 0);
    // Without a limit version 2 says "max", which is no number, version 1 nearly 2^63.
    values[VitalsLayout.CGROUP_LIMIT] = limit < NO_LIMIT ? limit : VitalsLayout.UNKNOWN;
  }

  /**
   * Reads all other vitals.
   *
   * @param all false: leave out what needs the management classes
   */
  void readOthers(long[] values, boolean all) {
    long pages = statm.read().field(0, 1);
    values[VitalsLayout.RSS] = pages == ProcFile.UNKNOWN ? VitalsLayout.UNKNOWN : pages * pageSize;
    // Behind the command's closing parenthesis come: state (field 3 of the page), ...; utime is
    // field 14, stime 15, num_threads 20.
    int fields = stat.read().afterLast(')');
    long user = stat.field(fields, 11);
    long system = stat.field(fields, 12);
    if (user != ProcFile.UNKNOWN && system != ProcFile.UNKNOWN) {
      values[VitalsLayout.CPU_MILLIS] = (user + system) * MILLIS_PER_TICK;
    }
    values[VitalsLayout.NODE_OOM_KILLS] = vmstat.read().value("oom_kill");
    values[VitalsLayout.CGROUP_OOM_KILLS] = cgroupEvents.read().value("oom_kill");
    if (values[VitalsLayout.CGROUP_LIMIT] != VitalsLayout.UNKNOWN) {
      // Who else shares the limit; without one nobody is killed for it.
      values[VitalsLayout.CGROUP_PROCESSES] = cgroupProcesses.count();
    }
    if (all) {
      readBeans(values);
    }
  }

  private Beans beans() {
    Beans sources = beans;
    if (sources == null) {
      sources = new Beans();
      beans = sources;
    }
    return sources;
  }

  /*
   * What is in use of the heap says little: it rises until a collection and falls with it. What
   * counts is what the last collection has left, pool by pool. The pool of G1's old regions says
   * that only after a full or a mixed collection, of which there may be none until the heap is full;
   * but its usage is brought up to date by each collection and each huge array, and G1 begins to
   * empty it long before it is full. Parallel and Serial let theirs fill up first: there, and with
   * collectors of one pool, what the last collection of that pool has left is the honest number.
   */
  @Override
  public long heapAfterCollection() {
    long sum = 0;
    List<MemoryPoolMXBean> pools = beans().heapPools;
    for (int i = 0; i < pools.size(); i++) {
      MemoryPoolMXBean pool = pools.get(i);
      MemoryUsage usage =
          pool.getName().equals("G1 Old Gen") ? pool.getUsage() : pool.getCollectionUsage();
      sum += usage == null ? 0 : usage.getUsed();
    }
    return sum;
  }

  @Override
  public long cgroupInactiveFile() {
    ProcFile stat = cgroupStat;
    if (stat == null) {
      stat = ProcFile.open(cgroup.stat(), 8192);
      cgroupStat = stat;
    }
    return Math.max(0, stat.read().value(cgroup.inactiveFile()));
  }

  @Override
  public long allocatedBytes(long threadId) {
    AllocationBean allocation = beans().allocation;
    return allocation == null ? -1 : allocation.bean().getThreadAllocatedBytes(threadId);
  }

  private void readBeans(long[] values) {
    Beans sources = beans();
    long count = 0;
    long millis = 0;
    for (GarbageCollectorMXBean collector : sources.collectors) {
      count += Math.max(0, collector.getCollectionCount());
      millis += Math.max(0, collector.getCollectionTime());
    }
    values[VitalsLayout.GC_COUNT] = count;
    values[VitalsLayout.GC_MILLIS] = millis;
    values[VitalsLayout.THREADS] = sources.threads.getThreadCount();
    if (sources.unix != null) {
      values[VitalsLayout.OPEN_FILES] = sources.unix.bean().getOpenFileDescriptorCount();
      values[VitalsLayout.MAX_FILES] = sources.unix.bean().getMaxFileDescriptorCount();
    }
  }

  @Override
  public void close() {
    statm.close();
    stat.close();
    vmstat.close();
    cgroupUsage.close();
    cgroupLimit.close();
    cgroupEvents.close();
    cgroupProcesses.close();
    if (cgroupStat != null) {
      cgroupStat.close();
    }
  }
}
