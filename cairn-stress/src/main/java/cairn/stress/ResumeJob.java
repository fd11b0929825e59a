package cairn.stress;

import cairn.Durability;
import cairn.journal.Journal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** A batch job that goes on where it was killed. Arguments: journal, number of steps, output. */
public final class ResumeJob {
  private ResumeJob() {}

  /** Does the steps that are not done yet. */
  public static void main(String[] args) throws IOException {
    Path output = Path.of(args[2]);
    try (Journal journal =
        Journal.builder(Path.of(args[0])).durability(Durability.power()).open()) {
      Set<Object> done = new HashSet<>();
      journal.replay(entry -> done.add(entry.event().get("done")));
      System.out.println("done before: " + done.size());
      for (long step = 1; step <= Long.parseLong(args[1]); step++) {
        if (!done.contains(step)) {
          perform(step, output);
          journal.append(Map.of("done", step)); // on the disk when it returns
        }
      }
    }
  }

  private static void perform(long step, Path output) throws IOException {
    Files.writeString(
        output, "step " + step + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
