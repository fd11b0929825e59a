package cairn.cli;

import cairn.journal.JournalReader;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** DIR of {@code cairn journal}: which journal a command looks at. */
final class JournalSource {
  private final PositionalParamSpec directory =
      PositionalParamSpec.builder()
          .index("0")
          .arity("1")
          .required(true)
          .type(String.class)
          .paramLabel("DIR")
          .description("the journal's directory, or a run's, for the run's own journal")
          .build();

  void addTo(CommandSpec spec) {
    spec.addPositional(directory);
    spec.addOption(Options.help());
  }

  /** {@return DIR, which exists and looks like a journal's} */
  Path directory() {
    String text = directory.getValue();
    Path path;
    try {
      path = Path.of(text).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: DIR=" + text + " (give a journal's directory)");
    }
    if (!Files.exists(path)) {
      throw CliException.unreadable(
          "no such directory: dir=" + path + " (give the one that Journal.builder got)");
    }
    if (!Files.isDirectory(path)) {
      throw CliException.unreadable(
          "not a directory: dir=" + path + " (give the one that Journal.builder got)");
    }
    try {
      if (!looksLikeAJournal(path)) {
        throw CliException.unreadable(
            "no journal: dir="
                + path
                + (Files.exists(path.resolve("box"))
                    ? " (that is a run without a journal of its own; see: cairn report)"
                    : " (give the directory that Journal.builder got)"));
      }
      return path;
    } catch (IOException e) {
      throw CliException.unreadable(
          "directory is not readable: dir="
              + path
              + ", error="
              + RunSource.describe(e)
              + " (run cairn as the user that runs the application)");
    }
  }

  private static boolean looksLikeAJournal(Path path) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        if (name.startsWith("journal-") || name.equals("staging")) {
          return true;
        }
      }
      return false;
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /** {@return a reader of DIR} */
  JournalReader open() throws IOException {
    return JournalReader.of(directory());
  }
}
