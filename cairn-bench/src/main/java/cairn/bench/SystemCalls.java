package cairn.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What a traced process did to the files of one directory between two marks: write calls, the bytes
 * in them, and forces.
 *
 * <p>A force is {@code fsync}, {@code fdatasync}, a write to a file that was opened with O_SYNC or
 * O_DSYNC, or {@code msync} that waits (of whatever file: the trace doesn't name it). Stores into a
 * mapping can't be seen.
 */
record SystemCalls(long writes, long writtenBytes, long forces) {
  private static final String BEGIN = "mark begin";
  private static final String END = "mark end";
  private static final Set<String> WRITES = Set.of("write", "pwrite64", "writev", "pwritev");
  private static final String UNFINISHED = " <unfinished ...>";
  private static final String RESUMED = " resumed>";

  /** Tells the trace that what counts begins; call in the traced process. */
  static void begin() {
    System.out.println(BEGIN);
  }

  /** Tells the trace that what counts is over. */
  static void end() {
    System.out.println(END);
  }

  /** {@return whether {@code strace} is there and may trace} */
  static boolean traceable() throws InterruptedException {
    try {
      Process strace =
          new ProcessBuilder("strace", "-o", "/dev/null", "true")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return strace.waitFor(30, TimeUnit.SECONDS) && strace.exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** {@return the start of a command whose trace {@link #read} understands} */
  static List<String> prefix(Path trace) {
    return List.of(
        "strace",
        "-f",
        "-y",
        "-qq",
        "-s",
        "16",
        "-e",
        "trace=openat,write,pwrite64,writev,pwritev,fsync,fdatasync,msync",
        "-e",
        "signal=none",
        "-o",
        trace.toString());
  }

  /** Reads a trace; throws if the marks aren't in it. */
  static SystemCalls read(Path trace, Path directory) throws IOException {
    try (Stream<String> lines = Files.lines(trace, StandardCharsets.ISO_8859_1)) {
      return parse(lines, directory.toRealPath());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  static SystemCalls parse(Stream<String> lines, Path directory) {
    Trace trace = new Trace(directory);
    lines.forEach(trace::line);
    Evidence.require(trace.ended, "marks in the trace", "none", "begin and end");
    return new SystemCalls(trace.writes, trace.writtenBytes, trace.forces);
  }

  /** The state while reading. */
  private static final class Trace {
    private final String directory;
    private final Map<String, String> unfinished = new HashMap<>();
    private final Set<String> writeThrough = new HashSet<>();
    private boolean counting;
    private boolean ended;
    private long writes;
    private long writtenBytes;
    private long forces;

    Trace(Path directory) {
      this.directory = directory + "/";
    }

    /** Takes a line, such as {@code 4711 fsync(5</tmp/a>) = 0}. */
    void line(String line) {
      int space = line.indexOf(' ');
      String thread = line.substring(0, space);
      String call = line.substring(space).stripLeading();
      if (call.endsWith(UNFINISHED)) {
        unfinished.put(thread, call.substring(0, call.length() - UNFINISHED.length()));
        return;
      }
      int resumed = call.indexOf(RESUMED);
      if (call.startsWith("<... ") && resumed > 0) {
        String start = unfinished.remove(thread);
        if (start == null) {
          return;
        }
        call = start + call.substring(resumed + RESUMED.length());
      }
      int parenthesis = call.indexOf('(');
      int equals = call.lastIndexOf(" = ");
      if (parenthesis > 0 && equals > parenthesis) {
        take(call.substring(0, parenthesis), call, call.substring(equals + 3).strip());
      }
    }

    private void take(String name, String call, String result) {
      if (name.equals("openat")) {
        opened(call, result);
      } else if (WRITES.contains(name)) {
        written(call, result);
      } else if (name.equals("msync") ? call.contains("MS_SYNC") : inDirectory(call)) {
        forces += counting ? 1 : 0;
      }
    }

    private void opened(String call, String result) {
      int path = result.indexOf('<');
      if (path > 0) {
        String descriptor = result.substring(0, path);
        if (call.contains("O_DSYNC") || call.contains("O_SYNC")) {
          writeThrough.add(descriptor);
        } else {
          writeThrough.remove(descriptor);
        }
      }
    }

    private void written(String call, String result) {
      if (call.contains(", \"" + BEGIN)) {
        counting = true;
      } else if (call.contains(", \"" + END)) {
        ended = counting;
        counting = false;
      } else if (counting && inDirectory(call) && !result.startsWith("-")) {
        writes++;
        int space = result.indexOf(' ');
        writtenBytes += Long.parseLong(space < 0 ? result : result.substring(0, space));
        String descriptor = call.substring(call.indexOf('(') + 1, call.indexOf('<'));
        forces += writeThrough.contains(descriptor) ? 1 : 0;
      }
    }

    /** {@return whether the first argument is a descriptor of a file below the directory} */
    private boolean inDirectory(String call) {
      int start = call.indexOf('<');
      return start > 0 && call.startsWith(directory, start + 1);
    }
  }
}
