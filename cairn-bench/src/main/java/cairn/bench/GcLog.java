package cairn.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what {@code -Xlog:gc:file=...:timemillis} wrote about pauses. */
final class GcLog {
  private static final Pattern PAUSE =
      Pattern.compile("\\[(\\d+)ms\\].* Pause .* (\\d+)M->(\\d+)M\\(\\d+M\\) ([\\d.]+)ms");

  /**
   * The pauses of some time.
   *
   * @param allocatedMb by how much the heap had grown before each; to a MiB a pause
   */
  record Pauses(int count, double millis, double allocatedMb) {}

  private GcLog() {}

  /** The log can end within a line, and JVMs differ: what does not look like a pause is none. */
  static Pauses between(Path file, long fromMillis, long toMillis) throws IOException {
    return between(
        new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).lines().toList(),
        fromMillis,
        toMillis);
  }

  static Pauses between(List<String> lines, long fromMillis, long toMillis) {
    int count = 0;
    double millis = 0;
    double allocated = 0;
    long usedMb = -1;
    for (String line : lines) {
      Matcher pause = PAUSE.matcher(line);
      if (!pause.find()) {
        continue;
      }
      long at = Long.parseLong(pause.group(1));
      if (at >= fromMillis && at <= toMillis) {
        count++;
        millis += Double.parseDouble(pause.group(4));
        allocated += usedMb < 0 ? 0 : Long.parseLong(pause.group(2)) - usedMb;
      }
      usedMb = Long.parseLong(pause.group(3));
    }
    return new Pauses(count, millis, allocated);
  }
}
