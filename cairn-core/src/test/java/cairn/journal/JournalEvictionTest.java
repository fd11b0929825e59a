package cairn.journal;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.storage.ModelDisk;
import cairn.storage.ModelDisk.Fault;
import cairn.storage.ModelDisk.Operation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What dropOldest and dropNewest gave up is accounted for, whenever the process dies. */
class JournalEvictionTest {
  private static final int RECORD_BYTES = 200;

  private final ModelDisk disk = new ModelDisk();

  private Journal open(ModelDisk on, WhenFull whenFull) throws IOException {
    Journal.Builder builder =
        Journal.builder(Path.of("model"))
            .segmentBytes(16 * 1024)
            .stagingBytes(16 * 1024)
            .whenFull(whenFull);
    builder.manual = true;
    return builder.open(on, new ModelStaging(on), null);
  }

  private static void append(Journal journal, int count) {
    for (int i = 0; i < count; i++) {
      journal.append(new byte[RECORD_BYTES]);
    }
  }

  /** Nothing is missing that the journal doesn't name; {@code last} is what was returned last. */
  private static void assertAccounted(ModelDisk image, long last) throws IOException {
    JournalReader reader = new JournalReader(image, () -> false);
    Set<Long> numbers = new HashSet<>();
    assertThat(reader.replay(entry -> numbers.add(entry.sequence()))).isEmpty();
    assertThat(numbers).contains(last);
    assertThat(reader.verify().givenUp().getOrDefault("evicted", 0L))
        .isGreaterThanOrEqualTo(last - numbers.size());
  }

  @Test
  void whatWasEvictedFromBothHalvesIsNamedAfterProcessDeathAndByTheNextWriter() throws Exception {
    Journal journal = open(disk, WhenFull.dropOldest());
    append(journal, 100);
    long first = journal.counters().get("evicted");
    disk.failFrom(Fault.NO_SPACE, EnumSet.of(Operation.CREATE), 1);
    assertThat(journal.force(java.time.Duration.ZERO)).isFalse(); // that half waits for the disk
    append(journal, 100);
    long both = journal.counters().get("evicted");
    assertThat(first).isPositive();
    assertThat(both).isGreaterThan(first);

    ModelDisk dead = disk.afterProcessDeath();

    assertAccounted(dead, 200);
    assertThat(new JournalReader(dead, () -> false).verify().givenUp())
        .containsEntry("evicted", both);
    dead.heal();
    open(dead, WhenFull.dropOldest()).close();
    assertAccounted(dead, 200);
    assertThat(new JournalReader(dead, () -> false).verify().givenUp())
        .containsEntry("evicted", both);
  }

  @Test
  void deathAtEveryStepOfAnEvictionLeavesNoNumberUnexplained() throws Exception {
    Journal journal = open(disk, WhenFull.dropOldest());
    append(journal, 50);
    int[] images = {0};
    disk.onStep(
        () -> {
          images[0]++;
          try {
            assertAccounted(disk.afterProcessDeath(), journal.lastSequence());
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    append(journal, 20);
    journal.force(java.time.Duration.ZERO);
    append(journal, 50);
    disk.onStep(null);

    assertThat(journal.counters().get("evicted")).isPositive();
    assertThat(images[0]).isGreaterThan(100);
  }

  @Test
  void whatWasDroppedIsCountedForADeadWriterBeforeTheNextOneOpens() throws Exception {
    Journal journal = open(disk, WhenFull.dropNewest());
    append(journal, 100);
    long dropped = journal.counters().get("dropped");

    ModelDisk dead = disk.afterProcessDeath();

    assertThat(dropped).isPositive();
    assertThat(new JournalReader(dead, () -> false).verify().givenUp())
        .containsEntry("dropped", dropped);
  }
}
