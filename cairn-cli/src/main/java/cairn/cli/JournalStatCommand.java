package cairn.cli;

import cairn.journal.Entry;
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

/** {@code cairn journal stat}. */
final class JournalStatCommand implements Callable<Integer> {
  private final Session session;

  private final JournalSource source = new JournalSource();
  private final OptionSpec json = Options.flag("print one JSON object", "--json");

  JournalStatCommand(Session session) {
    this.session = session;
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "stat",
            this,
            new String[] {
              "Says how much a journal holds, from when, how durably, and how far its consumers are."
            },
            new String[] {
              "Exit codes: 0 printed, 2 wrong usage, 3 nothing readable",
              "",
              "Examples:",
              "  cairn journal stat /data/jobs",
              "  cairn journal stat /data/jobs --json | jq '.consumers[] | select(.lag > 1000)'"
            });
    spec.addOption(json);
    source.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    Path directory = source.directory();
    JournalReader reader = JournalReader.of(directory);
    JournalHealth health = reader.verify();
    // Of a run's own journal there is no last entry to ask for.
    List<Entry> last = health.entries() == 0 ? List.of() : reader.last(1);
    Instant newest = last.isEmpty() ? null : last.get(0).time();
    Instant created = health.segments().isEmpty() ? null : health.segments().get(0).created();
    if (Options.isSet(json)) {
      session.out.println(Json.of(row(directory, health, created, newest)));
    } else {
      printText(directory, health, created, newest);
    }
    return ExitCode.OK;
  }

  private void printText(
      Path directory, JournalHealth health, @Nullable Instant created, @Nullable Instant newest) {
    Table table = new Table();
    table.add("directory", directory.toString());
    table.add("writer", health.isLive() ? "a process has it open" : "none");
    table.add("entries", entries(health));
    if (created != null) {
      table.add("oldest file", Units.rfc3339(created));
    }
    if (newest != null) {
      table.add("newest entry", Units.rfc3339(newest));
    }
    table.add(
        "on disk",
        Units.size(health.bytes())
            + " in "
            + (health.segments().size() == 1 ? "1 segment" : health.segments().size() + " segments")
            + ", "
            + Units.size(health.entryBytes())
            + " of it entries");
    table.add("durable", durable(health));
    for (Map.Entry<String, Long> given : new TreeMap<>(health.givenUp()).entrySet()) {
      table.add(given.getKey(), Units.whole(given.getValue()) + ", noted in the journal");
    }
    if (health.runFrames() > 0) {
      table.add("run", runFrames(health));
    }
    for (Map.Entry<String, Long> consumer : new TreeMap<>(health.consumers()).entrySet()) {
      table.add(
          "consumer",
          consumer.getKey()
              + ": acknowledged "
              + Units.whole(consumer.getValue())
              + ", "
              + Units.whole(lag(health, consumer.getValue()))
              + " behind");
    }
    if (!health.isSound()) {
      table.add("flaws", health.findings().size() + " (see: cairn journal verify)");
    }
    session.out.print(table);
  }

  private static String durable(JournalHealth health) {
    if (health.staged() == 0) {
      return "all are in segments (of process(), power loss may take the last "
          + ProfileLedger.WRITE_BACK_SECONDS
          + " s)";
    }
    return Units.whole(health.staged())
        + (health.staged() == 1 ? " entry is" : " entries are")
        + " in the staging file only, which power loss may take";
  }

  /** {@return such as {@code 17 entries, 1 to 17}} */
  static String entries(JournalHealth health) {
    if (health.entries() == 0) {
      return "no entries";
    }
    return Units.whole(health.entries())
        + (health.entries() == 1 ? " entry, " : " entries, ")
        + health.firstSequence()
        + " to "
        + health.lastSequence();
  }

  /** {@return that it is the journal of a run, with how many records that has} */
  static String runFrames(JournalHealth health) {
    return "a run's own journal: "
        + Units.whole(health.runFrames())
        + " records of the run, which are no entries (see: cairn report)";
  }

  private static long lag(JournalHealth health, long acknowledged) {
    return Math.max(0, health.lastSequence() - acknowledged);
  }

  private static Map<String, Object> row(
      Path directory, JournalHealth health, @Nullable Instant created, @Nullable Instant newest) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("schema", 1);
    row.put("directory", directory.toString());
    putNumbers(row, health);
    row.put("segments", health.segments().size());
    if (created != null) {
      row.put("oldestFile", created);
    }
    if (newest != null) {
      row.put("newestEntry", newest);
    }
    List<Map<String, Object>> consumers = new ArrayList<>();
    for (Map.Entry<String, Long> consumer : new TreeMap<>(health.consumers()).entrySet()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("name", consumer.getKey());
      one.put("acknowledged", consumer.getValue());
      one.put("lag", lag(health, consumer.getValue()));
      consumers.add(one);
    }
    row.put("consumers", consumers);
    return row;
  }

  /** Puts what {@code stat} and {@code verify} both say. */
  static void putNumbers(Map<String, Object> row, JournalHealth health) {
    row.put("live", health.isLive());
    row.put("entries", health.entries());
    if (health.entries() > 0) {
      row.put("firstSequence", health.firstSequence());
      row.put("lastSequence", health.lastSequence());
    }
    row.put("entryBytes", health.entryBytes());
    row.put("bytes", health.bytes());
    row.put("staged", health.staged());
    row.put("runFrames", health.runFrames());
    row.put("givenUp", new TreeMap<>(health.givenUp()));
  }
}
