package cairn.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The hs_err files that JVMs without a box left behind while a command ran. */
final class CrashFiles {
  private static final int HEAD_BYTES = 16 * 1024;
  private static final int LINES = 40;

  private final Path workingDirectory;
  private final Path temporary;

  /** Nothing older than this is looked at. */
  private final Instant since;

  CrashFiles(Path workingDirectory, Path temporary, Instant since) {
    this.workingDirectory = workingDirectory;
    this.temporary = temporary;
    // A file's time may be cut to a whole second.
    this.since = since.minusSeconds(1);
  }

  /** {@return the file of that process; null if there is none} */
  @Nullable Path of(long pid) {
    String name = "hs_err_pid" + pid + ".log";
    for (Path directory : List.of(workingDirectory, temporary)) {
      Path file = directory.resolve(name);
      if (isNew(file)) {
        return file;
      }
    }
    return null;
  }

  /** {@return the files of any process in the working directory, where its children write} */
  List<Path> others() {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(workingDirectory, "hs_err_pid*.log")) {
      for (Path entry : entries) {
        if (isNew(entry)) {
          files.add(entry);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      return List.of();
    }
    files.sort(null);
    return files;
  }

  private boolean isNew(Path file) {
    try {
      return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
          && !Files.getLastModifiedTime(file).toInstant().isBefore(since);
    } catch (IOException e) {
      return false;
    }
  }

  /** {@return the line that says what it was, such as {@code SIGSEGV (0xb) at pc=..., pid=...}} */
  static String what(Path file) {
    String head;
    try (InputStream in = Files.newInputStream(file)) {
      head = new String(in.readNBytes(HEAD_BYTES), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "it is not readable";
    }
    for (String line : head.lines().limit(LINES).toList()) {
      String text = line.startsWith("#") ? line.substring(1).strip() : "";
      if (text.startsWith("SIG")
          || text.startsWith("Internal Error")
          || text.startsWith("Native memory allocation")
          || text.startsWith("fatal error: OutOfMemory encountered")
          || text.startsWith("EXCEPTION_")) {
        return Text.cut(text, 120);
      }
    }
    return "a fatal error";
  }
}
