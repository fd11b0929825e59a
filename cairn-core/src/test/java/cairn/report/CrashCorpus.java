package cairn.report;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * hs_err files that JVM 17 and 25 wrote when they were made to crash, shortened, with what they
 * say.
 */
final class CrashCorpus {
  private CrashCorpus() {}

  /** One of them: bytes, and what is expected by the name of the field. */
  record Sample(String name, byte[] bytes, Map<String, String> expected) {
    CrashFile read() {
      CrashFile file = CrashCorpus.read(bytes);
      if (file == null) {
        throw new AssertionError("not read: " + name);
      }
      return file;
    }

    String text() {
      return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static @Nullable CrashFile read(byte[] bytes) {
    return CrashFile.read(new ByteArrayInputStream(bytes));
  }

  static @Nullable CrashFile read(String text) {
    return read(text.getBytes(StandardCharsets.UTF_8));
  }

  static Sample sample(String name) {
    return all().stream().filter(one -> one.name().equals(name)).findAny().orElseThrow();
  }

  static List<Sample> all() {
    try (Stream<Path> files =
        Files.list(Path.of(CrashCorpus.class.getResource("/hserr").toURI()))) {
      return files
          .filter(file -> file.toString().endsWith(".log"))
          .sorted()
          .map(CrashCorpus::load)
          .toList();
    } catch (IOException | URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static Sample load(Path log) {
    String name = log.getFileName().toString().replace(".log", "");
    Map<String, String> expected = new TreeMap<>();
    try {
      for (String line : Files.readAllLines(log.resolveSibling(name + ".txt"))) {
        int equals = line.indexOf('=');
        expected.put(line.substring(0, equals), line.substring(equals + 1));
      }
      return new Sample(name, Files.readAllBytes(log), expected);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@return the fields as the .txt files have them} */
  static Map<String, String> fields(CrashFile file) {
    Map<String, String> fields = new TreeMap<>();
    put(fields, "kind", file.kind);
    put(fields, "signal", file.signal);
    put(fields, "pc", file.pc);
    put(fields, "pid", file.pid);
    put(fields, "tid", file.tid);
    put(fields, "frame", file.frame);
    put(fields, "refusedBytes", file.refusedBytes);
    put(fields, "refusedFor", file.refusedFor);
    put(fields, "signalCode", file.signalCode);
    put(fields, "address", file.address);
    put(fields, "senderPid", file.senderPid);
    put(fields, "senderUid", file.senderUid);
    put(fields, "threadKind", file.threadKind);
    put(fields, "threadName", file.threadName);
    put(fields, "threadState", file.threadState);
    put(fields, "javaFrames", file.javaFrames.isEmpty() ? null : String.join(" ", file.javaFrames));
    put(fields, "compileTask", file.compileTask);
    put(
        fields,
        "time",
        file.time == null
            ? null
            : file.time.format(DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss")));
    put(fields, "elapsedMillis", file.elapsed == null ? null : file.elapsed.toMillis());
    put(fields, "residentBytes", file.residentBytes);
    put(fields, "maxHeapBytes", file.maxHeapBytes);
    put(fields, "complete", file.isComplete);
    return fields;
  }

  private static void put(Map<String, String> fields, String name, @Nullable Object value) {
    if (value instanceof OptionalLong number) {
      number.ifPresent(known -> fields.put(name, Long.toString(known)));
    } else if (value != null) {
      fields.put(name, value.toString());
    }
  }
}
