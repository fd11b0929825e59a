package cairn.cli;

import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** An application of its own JVM that records what its stdin says: see {@link ChildRun}. */
public final class RecordedApp {
  private RecordedApp() {}

  public static void main(String[] args) throws IOException {
    Recorder recorder = Recorder.builder(args[1]).directory(Path.of(args[0])).release("1.2").open();
    System.out.println(recorder.runId());
    Deque<OpenSpan> spans = new ArrayDeque<>();
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split("\t");
      switch (words[0]) {
        case "crumb" ->
            recorder.breadcrumb(
                Level.valueOf(words[1]),
                words[2],
                words[3],
                words.length > 4 ? Map.of("value", words[4]) : null);
        case "begin" -> spans.push(recorder.begin(words[1]).set(words[2], words[3]));
        case "end" -> spans.pop().close();
        case "exit" -> System.exit(Integer.parseInt(words[1]));
        case "fill" -> {
          List<byte[]> heap = new ArrayList<>();
          while (true) {
            heap.add(new byte[1 << 20]);
          }
        }
        case "return" -> {
          recorder.close();
          return;
        }
        default -> throw new IllegalArgumentException(line);
      }
      System.out.println("done");
    }
  }
}
