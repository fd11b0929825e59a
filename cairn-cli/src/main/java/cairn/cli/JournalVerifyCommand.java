package cairn.cli;

import cairn.journal.JournalFinding;
import cairn.journal.JournalHealth;
import cairn.journal.JournalReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn journal verify}. */
final class JournalVerifyCommand implements Callable<Integer> {
  private static final int MAX_FINDINGS = 50;

  private final Session session;

  private final JournalSource source = new JournalSource();
  private final OptionSpec json = Options.flag("print one JSON object", "--json");

  JournalVerifyCommand(Session session) {
    this.session = session;
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "verify",
            this,
            new String[] {
              "Reads a whole journal, checks every checksum and number, and says what is damaged or"
                  + " missing."
            },
            new String[] {
              "Records that the journal itself says were given up (dropped, evicted, lost) are shown and"
                  + " are no flaw.",
              "",
              "Exit codes: 0 sound, 1 flaws, 2 wrong usage, 3 nothing readable",
              "",
              "Examples:",
              "  cairn journal verify /data/jobs",
              "  cairn journal verify /data/jobs --json | jq '.findings[] | select(.loss)'"
            });
    spec.addOption(json);
    source.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    Path directory = source.directory();
    JournalHealth health = JournalReader.of(directory).verify();
    if (Options.isSet(json)) {
      session.out.println(Json.of(row(directory, health)));
    } else {
      printText(directory, health);
    }
    if (!isReadable(health)) {
      return ExitCode.UNREADABLE;
    }
    return health.isSound() ? ExitCode.OK : ExitCode.FOUND;
  }

  /** Whether anything in it proves itself. */
  private static boolean isReadable(JournalHealth health) {
    if (health.isSound() || health.entries() > 0 || health.runFrames() > 0) {
      return true;
    }
    for (JournalHealth.Segment segment : health.segments()) {
      if (segment.created() != null) {
        return true;
      }
    }
    return false;
  }

  private void printText(Path directory, JournalHealth health) {
    List<JournalFinding> findings = health.findings();
    session.out.println(
        Escape.line(directory.toString())
            + ": "
            + (health.isSound()
                ? "sound"
                : findings.size() == 1 ? "1 finding" : findings.size() + " findings")
            + (health.isLive() ? ", open for writing" : ""));
    session.out.println("  " + JournalStatCommand.entries(health));
    for (Map.Entry<String, Long> given : new TreeMap<>(health.givenUp()).entrySet()) {
      session.out.println(
          "  given up and noted: " + given.getKey() + " " + Units.whole(given.getValue()));
    }
    if (health.runFrames() > 0) {
      session.out.println("  " + JournalStatCommand.runFrames(health));
    }
    session.out.println();
    Table table = new Table();
    table.add("SEGMENT", "FROM", "TO", "ENTRIES", "SIZE", "NEWEST");
    for (JournalHealth.Segment segment : health.segments()) {
      table.add(
          segment.file() + (segment.isAfterError() ? " (after an I/O error)" : ""),
          Long.toString(segment.firstSequence()),
          segment.entries() == 0 ? "-" : Long.toString(segment.lastSequence()),
          Long.toString(segment.entries()),
          Units.size(segment.bytes()),
          time(segment.newest()));
    }
    if (health.staged() > 0) {
      table.add(
          "staging",
          Long.toString(health.lastSequence() - health.staged() + 1),
          Long.toString(health.lastSequence()),
          Long.toString(health.staged()));
    }
    session.out.print(table);
    if (!findings.isEmpty()) {
      session.out.println();
    }
    for (JournalFinding finding : findings.subList(0, Math.min(MAX_FINDINGS, findings.size()))) {
      session.out.println(
          (finding.isLoss() ? "loss  " : "note  ") + Escape.line(finding.toString()));
    }
    if (findings.size() > MAX_FINDINGS) {
      session.out.println("and " + (findings.size() - MAX_FINDINGS) + " more (see: --json)");
    }
  }

  private static String time(@Nullable Instant time) {
    return time == null ? "unknown" : Units.rfc3339(time);
  }

  private static Map<String, Object> row(Path directory, JournalHealth health) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("schema", 1);
    row.put("directory", directory.toString());
    row.put("sound", health.isSound());
    JournalStatCommand.putNumbers(row, health);
    List<Map<String, Object>> segments = new ArrayList<>();
    for (JournalHealth.Segment segment : health.segments()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("file", segment.file());
      one.put("firstSequence", segment.firstSequence());
      if (segment.entries() > 0) {
        one.put("lastSequence", segment.lastSequence());
      }
      one.put("entries", segment.entries());
      one.put("bytes", segment.bytes());
      putIfKnown(one, "created", segment.created());
      putIfKnown(one, "newest", segment.newest());
      one.put("afterError", segment.isAfterError());
      segments.add(one);
    }
    row.put("segments", segments);
    List<Map<String, Object>> findings = new ArrayList<>();
    for (JournalFinding finding : health.findings()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("file", finding.file());
      one.put("offset", finding.offset());
      one.put("loss", finding.isLoss());
      one.put("text", finding.text());
      findings.add(one);
    }
    row.put("findings", findings);
    return row;
  }

  private static void putIfKnown(Map<String, Object> row, String key, @Nullable Instant time) {
    if (time != null) {
      row.put(key, time);
    }
  }
}
