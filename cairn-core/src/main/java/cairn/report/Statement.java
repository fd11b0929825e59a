package cairn.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Witness} stated, with what the machine said at that moment; kept beside the box.
 *
 * @param by the witness
 * @param at when
 * @param exitStatus of the process, where the witness is its parent
 * @param bootId of the machine of the witness
 * @param nodeOomKills the kernel's count
 * @param cgroupOomKills the count of the run's cgroup, if it was still there
 */
record Statement(
    String by,
    @Nullable Instant at,
    OptionalInt exitStatus,
    @Nullable String bootId,
    OptionalLong nodeOomKills,
    OptionalLong cgroupOomKills) {
  /*
   * A file of lines `key: value`, so that a person can read it:
   *
   *   cairn: death 1
   *   by: run
   *   at: 2026-11-30T14:01:02.123Z
   *   exitStatus: 137
   *   bootId: 6b1f0c1e-1111-4222-8333-444455556666
   *   nodeOomKills: 5
   *   cgroupOomKills: 1
   *
   * What is unknown has no line; a line that is unknown, cut or wrong counts as none.
   */
  static final String PREFIX = "death-";

  private static final String FIRST_LINE = "cairn: death ";
  private static final int MAX_BYTES = 4096;
  private static final int MAX_FILES = 16;
  private static final int MAX_STATUS = 255;

  static String fileName(Witness witness) {
    return PREFIX + witness.name();
  }

  /** {@return what this witness sees on this machine now} */
  static Statement of(Witness witness, Salvage run, HostFacts host) {
    Instant at = witness.at();
    String cgroup = Salvage.text(run.identity, "cgroup");
    OptionalLong inode = Salvage.integer(run.identity, "cgroupInode");
    return new Statement(
        witness.name(),
        at == null ? host.now() : at,
        witness.exitStatus(),
        host.bootId(),
        host.nodeOomKills(),
        cgroup == null || inode.isEmpty()
            ? OptionalLong.empty()
            : host.cgroupOomKills(cgroup, inode.getAsLong()));
  }

  byte[] toBytes() {
    StringBuilder text = new StringBuilder(FIRST_LINE).append("1\n");
    line(text, "by", by);
    line(text, "at", at == null ? null : Names.rfc3339(at));
    line(text, "exitStatus", exitStatus.isEmpty() ? null : exitStatus.getAsInt());
    line(text, "bootId", bootId);
    line(text, "nodeOomKills", nodeOomKills.isEmpty() ? null : nodeOomKills.getAsLong());
    line(text, "cgroupOomKills", cgroupOomKills.isEmpty() ? null : cgroupOomKills.getAsLong());
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void line(StringBuilder text, String key, @Nullable Object value) {
    if (value != null) {
      text.append(key).append(": ").append(value).append('\n');
    }
  }

  /** {@return all statements in a run's directory; what can't be read is left out} */
  static List<Statement> in(Path directory) {
    List<Statement> statements = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
      for (Path file : files) {
        Map<String, String> lines = lines(file);
        if (lines != null && lines.containsKey("cairn") && statements.size() < MAX_FILES) {
          statements.add(parse(lines));
        }
      }
    } catch (IOException | DirectoryIteratorException | SecurityException e) {
      return statements;
    }
    return statements;
  }

  private static Statement parse(Map<String, String> lines) {
    OptionalLong status = number(lines.get("exitStatus"));
    boolean valid = status.isPresent() && status.getAsLong() <= MAX_STATUS;
    String by = lines.getOrDefault("by", "?");
    return new Statement(
        by,
        instant(lines.get("at")),
        valid ? OptionalInt.of((int) status.getAsLong()) : OptionalInt.empty(),
        lines.get("bootId"),
        number(lines.get("nodeOomKills")),
        number(lines.get("cgroupOomKills")));
  }

  /** {@return the lines {@code key: value} of a small file; null if there is no such file} */
  static @Nullable Map<String, String> lines(Path file) {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return null;
    }
    String text = LocalHost.read(file, MAX_BYTES);
    if (text == null) {
      return null;
    }
    Map<String, String> lines = new LinkedHashMap<>();
    for (String line : text.split("\n", -1)) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        lines.putIfAbsent(line.substring(0, colon).strip(), line.substring(colon + 1).strip());
      }
    }
    return lines;
  }

  static @Nullable Instant instant(@Nullable String text) {
    try {
      return text == null ? null : Instant.parse(text.toUpperCase(Locale.ROOT));
    } catch (DateTimeException e) {
      return null;
    }
  }

  private static OptionalLong number(@Nullable String text) {
    try {
      long value = text == null ? -1 : Long.parseLong(text);
      return value < 0 ? OptionalLong.empty() : OptionalLong.of(value);
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
