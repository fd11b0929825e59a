package cairn.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * What this process has used, as the kernel tells it: CPU of all living threads to the nanosecond,
 * write system calls, and bytes made dirty.
 *
 * <p>{@code dirtiedBytes} counts a page when it turns from clean to dirty, through {@code write} or
 * a mapping alike, a large folio with all its pages: what the kernel will write to the device.
 */
record ProcessMeter(
    long cpuNanos,
    long cairnCpuNanos,
    long compilerCpuNanos,
    long writeCalls,
    long writtenBytes,
    long dirtiedBytes) {

  /** Reads the counters; call after a pause, so that no idle thread has time not yet accounted. */
  static ProcessMeter read() {
    try {
      long cpu = 0;
      long cairn = 0;
      long compiler = 0;
      try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
        for (Path thread : threads) {
          try {
            String schedstat = Files.readString(thread.resolve("schedstat"));
            long nanos = Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
            cpu += nanos;
            String name = Files.readString(thread.resolve("comm"));
            if (name.startsWith("cairn")) {
              cairn += nanos;
            } else if (name.startsWith("C1 Comp") || name.startsWith("C2 Comp")) {
              compiler += nanos;
            }
          } catch (NoSuchFileException e) {
            // The thread has ended since.
          }
        }
      }
      String io = Files.readString(Path.of("/proc/self/io"));
      return new ProcessMeter(
          cpu,
          cairn,
          compiler,
          value(io, "syscw: "),
          value(io, "wchar: "),
          value(io, "\nwrite_bytes: "));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ProcessMeter minus(ProcessMeter before) {
    return new ProcessMeter(
        cpuNanos - before.cpuNanos,
        cairnCpuNanos - before.cairnCpuNanos,
        compilerCpuNanos - before.compilerCpuNanos,
        writeCalls - before.writeCalls,
        writtenBytes - before.writtenBytes,
        dirtiedBytes - before.dirtiedBytes);
  }

  private static long value(String io, String name) {
    int start = io.indexOf(name) + name.length();
    return Long.parseLong(io.substring(start, io.indexOf('\n', start)));
  }
}
