package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Run;
import cairn.report.Runs;
import cairn.stress.JournalCheck.Generation;
import cairn.stress.VictimCheck.Durable;
import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Power cuts on a real ext4: only what has reached the block device is left, and the file system's
 * own recovery comes first. A write that was not forced is gone here, which no kill shows.
 */
@Tag("slow")
@Timeout(3600)
class LoopImageTest {
  /** Images asked for; without that, as many as the time allows, and no more than that. */
  private static final int ASKED = Integer.getInteger("cairn.stress.loopImages", 0);

  private static final int IMAGES = 20;
  private static final int LEAST = 3;
  private static final int SECONDS = 25;
  private static final int CUTS_PER_VICTIM = 5;
  private static final int MAX_MILLIS = 120;
  private static final int PATIENCE_ROUNDS = 600;

  @TempDir Path directory;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Tally tally = new Tally();
  private final Launcher launcher =
      Launcher.plain("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
  private int images;

  @Test
  void whatWasDurableHasReachedTheDevice() throws Exception {
    int wanted = ASKED > 0 ? ASKED : IMAGES;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ASKED > 0 ? 3400 : SECONDS);
    for (int i = 0; images < wanted && System.nanoTime() - end < 0; i++) {
      Path home = Files.createDirectory(directory.resolve("home-" + i));
      Optional<LoopDisk> made = LoopDisk.of(home);
      if (made.isEmpty()) {
        return;
      }
      try (LoopDisk disk = made.get()) {
        switch (i % 3) {
          case 0 -> cutJournal(disk, home, "power");
          case 1 -> cutRun(disk, home);
          default -> cutJournal(disk, home, "bounded");
        }
      }
    }
    System.out.println(
        "loopImages="
            + images
            + " recordsChecked="
            + tally.recordsChecked()
            + " violations="
            + tally.violations()
            + " seed="
            + seed);
    assertThat(tally.details()).as("seed=%d", seed).isEmpty();
    assertThat(images).isGreaterThanOrEqualTo(ASKED > 0 ? wanted : LEAST);
    assertThat(tally.recordsChecked()).isPositive();
  }

  private void cutJournal(LoopDisk disk, Path home, String durability) throws Exception {
    JournalPlan plan =
        new JournalPlan(random.nextLong(), 0, 3, durability, 64 << 10, 16 << 10, "block");
    Path journal = disk.directory().resolve("journal");
    try (JournalVictimProcess victim = JournalVictimProcess.start(launcher, plan, journal, home)) {
      Generation whole = new Generation(plan, victim.oracle());
      victim.appendForever();
      for (int i = 0; i < CUTS_PER_VICTIM; i++, images++) {
        victim.child().liveOn(random.nextInt(MAX_MILLIS));
        long durable = victim.oracle().durable();
        victim.child().signal("STOP");
        Mount cut = disk.cut();
        try {
          Path left = cut.directory.resolve("journal");
          Generation hit = whole.cutAfter(durable);
          tally.add(JournalCheck.of(List.of(hit), left));
          if (i == CUTS_PER_VICTIM - 1) {
            goOn(hit, left, home);
          }
        } finally {
          disk.end(cut);
        }
        victim.child().signal("CONT");
      }
    }
  }

  /** The next process opens what was left, and goes on behind it. */
  private void goOn(Generation before, Path journal, Path home) throws Exception {
    JournalPlan next = before.plan().next();
    try (JournalVictimProcess victim = JournalVictimProcess.start(launcher, next, journal, home)) {
      assertThat(victim.answer()).startsWith("open ");
      victim.child().obey("rounds 50");
      assertThat(victim.failures()).isZero();
      assertThat(victim.child().end("close")).isZero();
      tally.add(JournalCheck.of(List.of(before, new Generation(next, victim.oracle())), journal));
    }
  }

  private void cutRun(LoopDisk disk, Path home) throws Exception {
    Plan plan = new Plan(random.nextLong(), 3, 256 << 10, 64, Scenario.MIXED, "power");
    Path root = disk.directory().resolve("root");
    try (VictimProcess victim = launcher.start(plan, root, home)) {
      victim.recordForever();
      for (int i = 0; i < CUTS_PER_VICTIM; i++, images++) {
        victim.liveOn(random.nextInt(MAX_MILLIS));
        Durable durable = Durable.now(plan, victim.oracle());
        victim.signal("STOP");
        Mount cut = disk.cut();
        try {
          checkRun(plan, victim.oracle(), cut.directory.resolve("root"), durable);
        } finally {
          disk.end(cut);
        }
        victim.signal("CONT");
      }
    }
  }

  private void checkRun(Plan plan, Oracle oracle, Path root, Durable durable) throws IOException {
    if (durable.isNothing()) {
      return; // nothing was promised yet
    }
    List<Run> runs = Runs.under(root).list();
    if (runs.size() != 1) {
      tally.lost(1, "the run: found=" + runs);
    }
    for (Run run : runs) {
      tally.add(VictimCheck.ofPowerCut(plan, oracle, Seen.of(run.report()), durable));
    }
  }

  @Test
  void deviceThatFailsLosesNothingThatWasDurable() throws Exception {
    Optional<LoopDisk> made = LoopDisk.of(directory, 12);
    if (made.isEmpty()) {
      return;
    }
    LoopDisk disk = made.get();
    try {
      Path journal = disk.directory().resolve("journal");
      JournalPlan plan = new JournalPlan(seed, 0, 3, "power", 1 << 20, 64 << 10, "block");
      Generation hit;
      try (JournalVictimProcess victim =
          JournalVictimProcess.start(launcher, plan, journal, directory)) {
        victim.appendForever();
        disk.fillMemory();
        for (int i = 0; i < PATIENCE_ROUNDS && victim.failures() == 0; i++) {
          victim.child().liveOn(50);
        }
        assertThat(victim.failures()).as("appends that threw").isPositive();
        hit = new Generation(plan, victim.oracle(), victim.oracle().durable());
        victim.child().kill();
      }
      disk.grow();
      disk = disk.reboot();
      tally.add(JournalCheck.of(List.of(hit), journal));
      goOn(hit, journal, directory);
      System.out.println(
          "failing device: durable=" + hit.durable() + " " + tally + " seed=" + seed);
      assertThat(tally.details()).as("seed=%d", seed).isEmpty();
    } finally {
      disk.close();
    }
  }
}
