package cairn.report;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A heap dump that a JVM wrote because of {@code -XX:+HeapDumpOnOutOfMemoryError}. Immutable.
 *
 * @param path where it is
 * @param bytes its size
 * @param modified when it was last written
 * @param isComplete whether it ends as a dump does
 */
record HeapDump(Path path, long bytes, Instant modified, boolean isComplete) {
  /** A dump of a large heap takes minutes, in which nothing else of the process runs. */
  private static final Duration WRITTEN_WITHIN = Duration.ofMinutes(10);

  /** The process may live on after it. */
  private static final Duration BEFORE_DEATH = Duration.ofSeconds(60);

  private static final byte[] HEAD = "JAVA PROFILE 1.0.".getBytes(StandardCharsets.US_ASCII);

  /** The last record: HPROF_HEAP_DUMP_END, a time, and no length. */
  private static final int END_BYTES = 9;

  private static final int END_TAG = 0x2C;

  /** {@return the dump that the run left at its death; null if there is none} */
  static @Nullable HeapDump of(Salvage salvage, HostFacts host) {
    if (salvage.lastSeen == null || Judge.isElsewhere(salvage, host)) {
      return null;
    }
    for (Path place : places(salvage)) {
      HeapDump dump = host.heapDump(place);
      if (dump != null
          && !dump.modified.isBefore(salvage.lastSeen.minus(BEFORE_DEATH))
          && !dump.modified.isAfter(salvage.lastSeen.plus(WRITTEN_WITHIN))) {
        return dump;
      }
    }
    return null;
  }

  /** {@return where HotSpot would write one} */
  static Set<Path> places(Salvage salvage) {
    Set<Path> places = new LinkedHashSet<>();
    OptionalLong pid = Salvage.integer(salvage.identity, "pid");
    String working = Salvage.text(salvage.identity, "workingDirectory");
    String configured = Salvage.text(salvage.identity, "heapDumpPath");
    String name = "java_pid" + pid.orElse(0) + ".hprof";
    try {
      Path base = working == null ? null : Path.of(working);
      if (configured != null && !configured.isEmpty()) {
        // A directory or a file. JDK 17 takes it as it is, JDK 25 replaces %p and %%.
        for (String text : List.of(configured, CrashEvidence.withPid(configured, pid))) {
          Path path = Path.of(text);
          Path file = path.isAbsolute() || base == null ? path : base.resolve(path);
          if (file.isAbsolute()) {
            places.add(file.resolve(name));
            places.add(file);
          }
        }
      } else if (base != null && pid.isPresent()) {
        places.add(base.resolve(name));
      }
    } catch (InvalidPathException e) {
      // The path of another system: nothing to look at here.
    }
    return places;
  }

  /** {@return the dump at that place; null if there is none, or it is unreadable} */
  static @Nullable HeapDump read(Path path) {
    try {
      if (!Files.isRegularFile(path)) {
        return null;
      }
      Instant modified = Files.getLastModifiedTime(path).toInstant();
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
        byte[] head = new byte[HEAD.length];
        file.readFully(head);
        if (!Arrays.equals(head, HEAD)) {
          return null;
        }
        return new HeapDump(path, file.length(), modified, endsAsADump(file));
      }
    } catch (EOFException e) {
      return null;
    } catch (IOException | SecurityException | UnsupportedOperationException e) {
      return null;
    }
  }

  private static boolean endsAsADump(RandomAccessFile file) throws IOException {
    long length = file.length();
    if (length < HEAD.length + END_BYTES) {
      return false;
    }
    file.seek(length - END_BYTES);
    byte[] end = new byte[END_BYTES];
    file.readFully(end);
    return end[0] == END_TAG && end[5] == 0 && end[6] == 0 && end[7] == 0 && end[8] == 0;
  }

  /** {@return one line for the evidence} */
  String text() {
    return "a heap dump was written at "
        + SafeText.cut(path.toString(), 200)
        + ": "
        + Names.bytes(bytes)
        + (isComplete ? ", complete" : ", cut off: the process died while it wrote it");
  }
}
