package cairn.stress;

import cairn.report.DeadBoxReader;
import cairn.report.Report;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/** A box in memory that can be damaged, read and mended. One thread. */
final class DamagedBox {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final DeadBoxReader reader = new DeadBoxReader();
  private final byte[] sound;
  private final byte[] bytes;
  private long mostAllocated;
  private long longestNanos;

  DamagedBox(byte[] sound) {
    this.sound = sound;
    this.bytes = sound.clone();
  }

  int length() {
    return bytes.length;
  }

  /** Overwrites bytes. */
  void write(int offset, byte... replacement) {
    System.arraycopy(replacement, 0, bytes, offset, replacement.length);
  }

  /** Puts back what {@link #write} has overwritten. */
  void mend(int offset, int length) {
    System.arraycopy(sound, offset, bytes, offset, length);
  }

  /** Reads the report, watching what that costs. */
  Report read() throws IOException {
    return read(bytes);
  }

  /** Reads the report of the first bytes alone. */
  Report readCut(int length) throws IOException {
    return read(Arrays.copyOf(bytes, length));
  }

  private Report read(byte[] box) throws IOException {
    long allocated = THREADS.getCurrentThreadAllocatedBytes();
    long begin = System.nanoTime();
    try {
      return reader.read(box);
    } finally {
      longestNanos = Math.max(longestNanos, System.nanoTime() - begin);
      mostAllocated = Math.max(mostAllocated, THREADS.getCurrentThreadAllocatedBytes() - allocated);
    }
  }

  /** {@return what the costliest reading has allocated, and forgets it} */
  long takeMostAllocated() {
    long most = mostAllocated;
    mostAllocated = 0;
    return most;
  }

  long longestMillis() {
    return longestNanos / 1_000_000;
  }
}
