package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The worked example in FORMAT.md is what the writer writes. */
class FormatExampleTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "FORMAT.md");

  @Test
  void recordInTheDocumentIsWhatTheWriterWrites() throws IOException {
    MemoryBox memory = new MemoryBox(16, 64 * 1024);
    Thread thread = Thread.currentThread();
    String name = thread.getName();
    thread.setName("main");
    try {
      memory.box.breadcrumb(Level.INFO, "db", "SELECT orders", Map.of("rows", 3));
    } finally {
      thread.setName(name);
    }
    byte[] image = memory.image();
    int at = memory.box.plan.trail;
    StringBuilder example = new StringBuilder();
    line(example, image, at, 8, "position 65536: the first of a ring of 64 KiB, so offset 0");
    line(example, image, at + 8, 4, "length 68: 32 of header, 36 of payload");
    line(example, image, at + 12, 4, "crc32c");
    line(example, image, at + 16, 8, "wallMillis 1700000000000: 2023-11-14T22:13:20Z");
    line(example, image, at + 24, 2, "type 1: breadcrumb");
    line(example, image, at + 26, 2, "level 1: info; flags 0");
    line(example, image, at + 28, 4, "aux");
    line(example, image, at + 32, 1, "payload: a map of unknown length");
    line(example, image, at + 33, 6, "3: \"main\"");
    line(example, image, at + 39, 4, "0: \"db\"");
    line(example, image, at + 43, 15, "1: \"SELECT orders\"");
    line(example, image, at + 58, 2, "2: a map of unknown length");
    line(example, image, at + 60, 6, "\"rows\": 3");
    line(example, image, at + 66, 1, "end of that map");
    line(example, image, at + 67, 1, "end of the payload");

    assertThat(Files.readString(DOCUMENT)).contains("```\n" + example + "```\n");
  }

  private static void line(StringBuilder out, byte[] image, int from, int length, String meaning) {
    String hex =
        HexFormat.ofDelimiter(" ").formatHex(Arrays.copyOfRange(image, from, from + length));
    out.append(String.format("%-48s%s%n", hex, meaning));
  }
}
