package cairn.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import cairn.Durability;
import cairn.journal.JournalModel.Setting;
import cairn.storage.ModelDisk;
import cairn.storage.ModelDisk.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The journal, stopped after every change of its directory and of its staging file. What process
 * death leaves, and what power loss may leave (all of it where that is little, else the telling
 * states and random ones), is read, opened by the next process, and held to every promise.
 */
class JournalCrashPointsTest {
  private static final Durability BOUNDED = Durability.bounded(2, Duration.ofSeconds(1));

  private static final List<Setting> SETTINGS =
      List.of(
          Setting.of(Durability.process()),
          Setting.of(BOUNDED),
          Setting.of(Durability.power()),
          new Setting(Durability.process(), Long.MAX_VALUE, false, false),
          new Setting(Durability.power(), 33 * 1024, false, true),
          new Setting(BOUNDED, Long.MAX_VALUE, true, true));

  private static final List<String> HISTORIES =
      List.of(
          "abc.",
          "c.d.F",
          "cdF.aKbF",
          "eee.ee.eFe.",
          "ee.Kee.kee.Kee.",
          "b.Dc.DdF",
          "cCdCC",
          "dkdDkd");

  private long images;
  private int faults;

  private void run(
      String what,
      Setting setting,
      String history,
      ModelDisk disk,
      int limit,
      int percent,
      boolean expectsFault) {
    Random random = new Random(5);
    int[] since = {0};
    JournalModel model =
        new JournalModel(
            setting,
            disk,
            percent,
            at -> {
              // Before a fault nothing differs from the run without one; long after it little does.
              since[0] += at.faultsHit() > 0 ? 1 : 0;
              boolean isNear = since[0] > 0 && (since[0] < 8 || since[0] % 5 == 0);
              if (!expectsFault || isNear) {
                at.judgeDeaths(limit, random);
              }
            });
    try {
      model.run(history);
      model.judgeDeaths(limit, random);
    } catch (AssertionError | RuntimeException e) {
      fail(
          what
              + ", setting="
              + setting
              + ", history="
              + history
              + ": "
              + e.getMessage()
              + "\n  "
              + String.join("\n  ", model.disk.trace()),
          e);
    }
    images += model.images;
  }

  @Test
  void everyDeathAtEveryStepKeepsEveryPromise() {
    for (Setting setting : SETTINGS) {
      for (String history : HISTORIES) {
        run("deaths", setting, history, new ModelDisk(), 10, 25, false);
      }
    }
    System.out.println("journal: images checked=" + images);
    assertThat(images).isGreaterThan(20_000);
  }

  @Test
  void everyOperationThatFailsOnceInEveryWayKeepsEveryPromise() {
    for (Fault fault : Fault.values()) {
      for (Setting setting : SETTINGS) {
        for (String history : List.of("cdF", "ee.eF", "dkd.F")) {
          for (int nth = 1; ; nth++) {
            ModelDisk disk = new ModelDisk().fail(fault, fault.operations(), nth);
            // What such a fault does shows only to the next process.
            int percent = fault == Fault.FORCE_DROPS ? 60 : 6;
            run("fault=" + fault + ", nth=" + nth, setting, history, disk, 2, percent, true);
            if (disk.faultsHit() == 0) {
              break;
            }
            faults++;
          }
        }
      }
    }
    System.out.println("journal: faults=" + faults + ", images checked=" + images);
    assertThat(faults).isGreaterThan(500);
  }
}
