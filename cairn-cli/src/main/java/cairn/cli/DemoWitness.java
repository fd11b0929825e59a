package cairn.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/**
 * What the shop told the demo about its requests, past Cairn: a file with a line for each event.
 *
 * <p>A line is one write call, and a call that returned outlives the shop. A line that is not whole
 * is of a call that did not return; it counts as not written.
 *
 * @param arrived ids of the requests that reached the shop ({@code A id})
 * @param begun ids whose span had begun and held the id ({@code B id})
 * @param ended ids whose span had ended ({@code E id})
 */
record DemoWitness(Set<String> arrived, Set<String> begun, Set<String> ended) {
  static DemoWitness read(Path file) throws IOException {
    String text = Files.readString(file, StandardCharsets.UTF_8);
    DemoWitness witness = new DemoWitness(new HashSet<>(), new HashSet<>(), new HashSet<>());
    int start = 0;
    for (int end; (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
      witness.add(text.substring(start, end));
    }
    return witness;
  }

  private void add(String line) {
    if (line.length() < 3 || line.charAt(1) != ' ') {
      return;
    }
    String id = line.substring(2);
    switch (line.charAt(0)) {
      case 'A' -> arrived.add(id);
      case 'B' -> begun.add(id);
      case 'E' -> ended.add(id);
      default -> {
        // The rest of a line whose start was cut.
      }
    }
  }
}
