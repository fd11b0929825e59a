package cairn.bench;

import cairn.Durability;
import cairn.journal.Journal;
import cairn.journal.JournalHealth;
import cairn.journal.JournalReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Cairn's journal with default settings but for its durability. Any thread. */
final class JournalTarget implements Target {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Path directory;
  private final boolean promisesForce;
  private final Journal journal;

  JournalTarget(Path directory, Durability durability) throws IOException {
    this.directory = directory.resolve("journal");
    this.promisesForce = !durability.equals(Durability.process());
    journal = Journal.builder(this.directory).durability(durability).open();
    Evidence.require(journal.mode().equals("mapped"), "mode", journal.mode(), "mapped");
  }

  @Override
  public void record(int index) {
    if (journal.append(DurableContender.RECORDS[index]) == Journal.DROPPED) {
      throw new IllegalStateException("record dropped: counters=" + journal.counters());
    }
  }

  @Override
  public void settle() {
    if (promisesForce) {
      boolean forced = journal.force(PATIENCE);
      Evidence.require(forced, "forced", journal.counters(), "everything");
    }
  }

  @Override
  public long forces() {
    return journal.counters().getOrDefault("forces", -1L);
  }

  @Override
  public void finish(long calls) throws IOException {
    journal.close();
    JournalHealth health = JournalReader.of(directory).verify();
    Evidence.require(health.entries() == calls, "entries", health, calls);
    Evidence.require(health.findings().isEmpty(), "findings", health.findings(), "none");
  }
}
