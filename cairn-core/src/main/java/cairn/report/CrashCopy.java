package cairn.report;

import cairn.storage.PrivateFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Locale;
import java.util.Set;

/**
 * A copy of an hs_err file without what the application keeps to itself.
 *
 * <p>Kept are the parts that are known to hold none of it; the rest is replaced by a line that says
 * what it was. {@link CrashFile} reads the same from the copy as from the file.
 */
final class CrashCopy {
  /*
   * What an hs_err file gives away, seen on JDK 17 and 25: the command line, three times (passwords in
   * -D options); environment variables; the texts that registers and stack slots point to, and raw
   * memory; messages of exceptions; options that hold commands. A command line and the name of a
   * thread may hold line breaks, and what follows them looks like any line of the file. So:
   *
   *   heading         lines that begin with '#'
   *   summary         the time
   *   thread          all down to the registers, without vector registers
   *   process         all down to "Dynamic libraries", without the lists that are known to hold messages
   *   libraries       lines of the memory map
   *   then            numbers and switches among the JVM's flags, and handlers of signals
   *   system          all
   *
   * and of none of these a line that looks as if it held an option.
   */

  static final int MAX_BYTES = 1024 * 1024;

  /** For the last part. */
  private static final int RESERVED_BYTES = 128 * 1024;

  private static final Set<String> TYPES =
      Set.of("bool", "int", "uint", "intx", "uintx", "size_t", "uint64_t", "double");

  private enum Part {
    BEFORE,
    HEADING,
    SUMMARY,
    THREAD,
    PROCESS,
    LIBRARIES,
    ARGUMENTS,
    SYSTEM
  }

  private final TextLines lines;
  private final OutputStream out;
  private Part part = Part.BEFORE;
  private boolean isDropping;
  private boolean isTold;
  private int written;

  private CrashCopy(InputStream in, OutputStream out) {
    this.lines = new TextLines(in, CrashFile.MAX_BYTES);
    this.out = out;
  }

  /**
   * Copies it. The copy is its owner's only, complete as soon as it has its name, and has the time
   * of the file.
   *
   * @return false if there was something of that name already, which is left alone
   * @throws IOException if the file can't be read or is no hs_err file, or the copy not be written
   */
  static boolean copy(Path source, Path target) throws IOException {
    if (!Files.isRegularFile(source, LinkOption.NOFOLLOW_LINKS)) {
      throw new NoSuchFileException(source.toString());
    }
    FileTime modified = Files.getLastModifiedTime(source);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (InputStream in = Files.newInputStream(source)) {
      copy(in, out);
    }
    return PrivateFiles.createWhole(target, out.toByteArray(), modified);
  }

  /**
   * Copies it from one stream to another.
   *
   * @throws IOException if it is no hs_err file, or can't be written
   */
  static void copy(InputStream in, OutputStream out) throws IOException {
    CrashCopy copy = new CrashCopy(in, out);
    copy.run();
    if (copy.part == Part.BEFORE) {
      throw new IOException("not an hs_err file (its heading is missing)");
    }
  }

  private void run() throws IOException {
    for (String line = lines.next(); line != null; line = lines.next()) {
      boolean isHeading = CrashFile.isHeading(line);
      if (isHeading && part != Part.BEFORE) {
        return;
      }
      if (isHeading) {
        part = Part.HEADING;
        line("#");
      }
      if (part == Part.BEFORE) {
        continue;
      }
      boolean isSeparator = line.startsWith("---------------  ");
      if (isSeparator) {
        separate(line);
      }
      boolean isWhole = lines.isWhole() || line.equals("END.");
      if (isSeparator || (isWhole && isKept(line) && !looksSecret(line))) {
        isTold = false;
        line(line);
      } else if (!isTold && !line.isBlank()) {
        isTold = true;
        line("[left out by Cairn]");
      }
      if (part == Part.SYSTEM && line.equals("END.")) {
        return;
      }
    }
  }

  private void separate(String line) {
    isDropping = false;
    if (line.contains("S U M M A R Y")) {
      part = Part.SUMMARY;
    } else if (line.contains("T H R E A D")) {
      part = Part.THREAD;
    } else if (line.contains("P R O C E S S")) {
      part = Part.PROCESS;
    } else if (line.contains("S Y S T E M")) {
      part = Part.SYSTEM;
    }
  }

  private boolean isKept(String line) {
    return switch (part) {
      case BEFORE -> false;
      case HEADING -> line.startsWith("#") || line.isBlank();
      case SUMMARY -> isSummary(line);
      case THREAD -> isThread(line);
      case PROCESS -> isProcess(line);
      case LIBRARIES -> isLibrary(line);
      case ARGUMENTS -> isBlankOr(line, isFlag(line) || isHandler(line));
      case SYSTEM -> true;
    };
  }

  private static boolean isBlankOr(String line, boolean isKept) {
    return isKept || line.isBlank();
  }

  private static boolean isSummary(String line) {
    return line.isBlank() || (line.startsWith("Time:") && line.contains(" elapsed time: "));
  }

  private boolean isThread(String line) {
    if (line.startsWith("Register to memory mapping:")
        || line.startsWith("Top of Stack:")
        || line.startsWith("Instructions:")
        || line.startsWith("Stack slot to memory mapping:")
        || line.startsWith("XMM[")) {
      isDropping = true;
    }
    return !isDropping;
  }

  private boolean isProcess(String line) {
    if (line.startsWith("Dynamic libraries:")) {
      part = Part.LIBRARIES;
      return true;
    }
    if (line.startsWith("VM Arguments:")) {
      part = Part.ARGUMENTS;
      return false;
    }
    boolean isTitle = line.endsWith(" events):") || line.endsWith(" event):");
    if (isTitle) {
      isDropping =
          line.startsWith("Internal exceptions (")
              || line.startsWith("Events (")
              || line.startsWith("Dll operation events (");
      return true;
    }
    return !isDropping;
  }

  private boolean isLibrary(String line) {
    if (line.startsWith("VM Arguments:")) {
      part = Part.ARGUMENTS;
      return false;
    }
    int dash = line.indexOf('-');
    return line.isBlank() || (dash > 0 && isHex(line.substring(0, dash)));
  }

  private static boolean isHex(String text) {
    return text.chars().allMatch(c -> Character.digit(c, 16) >= 0);
  }

  /** {@code size_t MaxHeapSize = 67108864 {product} {ergonomic}} */
  private static boolean isFlag(String line) {
    String[] words = line.strip().split(" +", 5);
    return words.length >= 4
        && TYPES.contains(words[0])
        && words[2].equals("=")
        && (words[3].equals("true") || words[3].equals("false") || isNumber(words[3]));
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty() && text.chars().allMatch(c -> "-.0123456789e+".indexOf(c) >= 0);
  }

  private static boolean isHandler(String line) {
    String text = line.strip();
    return text.startsWith("SIG")
        && text.indexOf(':') > 0
        && (text.contains(" in lib") || text.contains("SIG_DFL") || text.contains("SIG_IGN"));
  }

  private static boolean looksSecret(String line) {
    String lower = line.toLowerCase(Locale.ROOT);
    return line.startsWith("-D")
        || line.contains(" -D")
        || line.contains("Command Line:")
        || line.contains("_OPTIONS")
        || lower.contains("jvm_args")
        || lower.contains("jvm_flags")
        || lower.contains("java_command")
        || lower.contains("java_class_path")
        || lower.contains("password")
        || lower.contains("secret")
        || lower.contains("token=");
  }

  private void line(String line) throws IOException {
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    // Without its end the copy of a large file would look cut off.
    int limit = part == Part.SYSTEM ? MAX_BYTES : MAX_BYTES - RESERVED_BYTES;
    if (written + bytes.length <= limit) {
      out.write(bytes);
      written += bytes.length;
    }
  }
}
