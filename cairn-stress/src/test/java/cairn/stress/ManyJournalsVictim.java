package cairn.stress;

import cairn.Durability;
import cairn.journal.Journal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Appends to one journal after the other, of which some have no room; prints a line for each. */
final class ManyJournalsVictim {
  static final int APPENDS = 150;

  private ManyJournalsVictim() {}

  /** Arguments: what the records begin with, then the directories. */
  public static void main(String[] args) {
    for (int i = 1; i < args.length; i++) {
      System.out.println("dir=" + args[i] + " " + append(args[0], Path.of(args[i])));
    }
    System.out.println("end");
  }

  private static String append(String prefix, Path directory) {
    int returned = 0;
    String error = "none";
    Journal.Builder builder =
        Journal.builder(directory)
            .durability(Durability.power())
            .segmentBytes(16 << 10)
            .stagingBytes(16 << 10);
    try (Journal journal = builder.open()) {
      for (int i = 0; i < APPENDS; i++) {
        try {
          journal.append(
              (prefix + " " + i + " " + "x".repeat(100)).getBytes(StandardCharsets.UTF_8));
          returned++;
        } catch (UncheckedIOException e) {
          error = "append: " + e.getMessage() + ": " + e.getCause().getMessage();
          break;
        }
      }
    } catch (IOException e) {
      error = "open: " + e;
    } catch (UncheckedIOException e) {
      error += ", close: " + e.getMessage();
    }
    return "returned=" + returned + " error=" + error.replace('\n', ' ');
  }
}
