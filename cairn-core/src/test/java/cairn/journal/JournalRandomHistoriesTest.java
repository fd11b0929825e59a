package cairn.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import cairn.Durability;
import cairn.journal.JournalModel.Setting;
import cairn.storage.ModelDisk;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Long histories by chance: appends, passes, acknowledgements, deaths, power losses, full disks and
 * failing operations in any order. {@code -Dcairn.model.seeds=N} runs more of them, {@code
 * -Dcairn.model.seed=S} one alone.
 */
class JournalRandomHistoriesTest {
  private static final int CALLS = 60;

  /** How often a call comes is how often its letter stands here. */
  private static final String CALLS_BY_CHANCE =
      "aabbbbccccccddddddeeeeeeee" + "........FFFFkkkKKCDDPPxxxxxSHH";

  private static Setting setting(Random random) {
    List<Durability> durabilities =
        List.of(
            Durability.process(), Durability.bounded(3, Duration.ofSeconds(1)), Durability.power());
    Durability durability = durabilities.get(random.nextInt(3));
    boolean deletesAcknowledged = random.nextInt(4) == 0;
    long retainBytes = random.nextInt(4) == 0 ? 50_000 : Long.MAX_VALUE;
    return new Setting(
        durability,
        deletesAcknowledged ? Long.MAX_VALUE : retainBytes,
        deletesAcknowledged,
        random.nextInt(4) > 0);
  }

  private static long run(long seed) {
    Random random = new Random(seed);
    Setting setting = setting(random);
    StringBuilder history = new StringBuilder();
    for (int i = 0; i < CALLS; i++) {
      history.append(CALLS_BY_CHANCE.charAt(random.nextInt(CALLS_BY_CHANCE.length())));
    }
    ModelDisk disk = new ModelDisk(random.nextInt(4) == 0 ? 4096 : 512);
    JournalModel model =
        new JournalModel(
            setting,
            disk,
            20,
            at -> {
              if (random.nextInt(40) == 0) {
                at.judgeDeaths(3, random);
              }
            });
    model.chance = random;
    try {
      model.run(history.toString());
      model.judgeDeaths(20, random);
    } catch (AssertionError | RuntimeException e) {
      fail(
          "seed="
              + seed
              + " (-Dcairn.model.seed="
              + seed
              + "), setting="
              + setting
              + ", history="
              + history
              + ": "
              + e.getMessage()
              + "\n  "
              + String.join("\n  ", model.disk.trace()),
          e);
    }
    return model.images;
  }

  @Test
  void noHistoryBreaksAPromise() {
    Long only = Long.getLong("cairn.model.seed");
    long first = only != null ? only : 1;
    long count = only != null ? 1 : Long.getLong("cairn.model.seeds", 80);
    long images = 0;
    for (long seed = first; seed < first + count; seed++) {
      images += run(seed);
    }
    System.out.println("journal: random histories=" + count + ", images checked=" + images);
    assertThat(images).isGreaterThan(20 * count);
  }
}
