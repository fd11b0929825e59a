package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.journal.Journal;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.stress.JournalCheck.Generation;
import cairn.stress.VictimCheck.Durable;
import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Power cuts in the middle of the work: what was called durable is there, and nothing is wrong. */
@Tag("slow")
@Timeout(3600)
class PowerCutTest {
  /** Images asked for; without that, as many as the time allows, and no more than that. */
  private static final int ASKED = Integer.getInteger("cairn.stress.powerCuts", 0);

  private static final int IMAGES = 400;
  private static final int LEAST = 40;
  private static final int SECONDS = 25;
  private static final int SNAPSHOTS = 4;
  private static final int IMAGES_PER_VICTIM = 20;
  private static final int MAX_MILLIS = 100;
  private static final int APPENDS = 5;
  private static final String SEGMENT = "journal-";
  private static final String POSITION = "position-";

  @TempDir Path directory;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Tally tally = new Tally();
  private int images;
  private int victims;

  @Test
  void everySectorMixOfAJournalHoldsWhatWasDurableAndCanBeWrittenTo() throws Exception {
    Launcher launcher = Launcher.plain("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    List<String> durabilities = List.of("power", "bounded", "process");
    run("journal", () -> cutJournal(launcher, durabilities.get(victims % 3)));
  }

  @Test
  void everySectorMixOfARunShowsWhatWasDurable() throws Exception {
    Launcher launcher = Launcher.plain("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    List<String> durabilities = List.of("power", "bounded");
    run("run", () -> cutRun(launcher, durabilities.get(victims % 2)));
  }

  private interface Cut {
    void make() throws Exception;
  }

  private void run(String what, Cut cut) throws Exception {
    int wanted = (ASKED > 0 ? ASKED : IMAGES) / 2;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ASKED > 0 ? 1700 : SECONDS / 2);
    while (images < wanted && System.nanoTime() - end < 0) {
      cut.make();
      victims++;
    }
    System.out.println(
        what
            + " sectorMixes="
            + images
            + " victims="
            + victims
            + " recordsChecked="
            + tally.recordsChecked()
            + " violations="
            + tally.violations()
            + " seed="
            + seed);
    assertThat(tally.details()).as("seed=%d", seed).isEmpty();
    assertThat(images).isGreaterThanOrEqualTo(ASKED > 0 ? wanted : LEAST / 2);
    assertThat(tally.recordsChecked()).isPositive();
  }

  private void cutJournal(Launcher launcher, String durability) throws Exception {
    Path home = Files.createDirectory(directory.resolve("victim-" + victims));
    Path journal = home.resolve("journal");
    JournalPlan plan =
        new JournalPlan(random.nextLong(), 0, 3, durability, 64 << 10, 16 << 10, "block");
    SectorMix mix = new SectorMix(name -> name.startsWith(SEGMENT) || name.startsWith(POSITION));
    long[] durable = new long[SNAPSHOTS];
    Generation whole;
    try (JournalVictimProcess victim = JournalVictimProcess.start(launcher, plan, journal, home)) {
      whole = new Generation(plan, victim.oracle());
      victim.appendForever();
      victim.child().liveOn(random.nextInt(MAX_MILLIS));
      for (int i = 0; i < SNAPSHOTS; i++) {
        durable[i] = victim.oracle().durable();
        mix.take(journal);
      }
      victim.child().kill();
    }
    for (int i = 0; i < IMAGES_PER_VICTIM; i++, images++) {
      int base = random.nextInt(SNAPSHOTS);
      Path image = Files.createDirectory(home.resolve("image-" + i));
      mix.image(base, sectorBytes(), random, image);
      int before = tally.details().size();
      Generation cut = whole.cutAfter(durable[base]);
      tally.add(JournalCheck.of(List.of(cut), image));
      goOn(cut, image);
      if (tally.details().size() > before) {
        System.out.println("evidence: durability=" + durability + ", base=" + base + ", " + image);
        return;
      }
      VictimProcess.delete(image);
    }
    VictimProcess.delete(home);
  }

  /** The next process opens what the power cut left, and goes on behind it. */
  private void goOn(Generation before, Path image) throws IOException {
    JournalPlan plan = before.plan().next();
    JournalOracle oracle = JournalOracle.create(image.resolveSibling("next-" + images), 3);
    try (Journal journal = plan.open(image)) {
      for (int q = 0; q < APPENDS; q++) {
        oracle.start(0, q);
        oracle.returned(0, q, plan.append(journal, 0, q));
      }
    }
    tally.add(JournalCheck.of(List.of(before, new Generation(plan, oracle)), image));
  }

  private void cutRun(Launcher launcher, String durability) throws Exception {
    Path home = Files.createDirectory(directory.resolve("victim-" + victims));
    Scenario scenario = Scenario.values()[victims % 3];
    Plan plan = new Plan(random.nextLong(), 3, 256 << 10, 64, scenario, durability);
    SectorMix mix = new SectorMix(name -> name.contains("/" + SEGMENT));
    List<Durable> durable = new ArrayList<>();
    Oracle oracle;
    try (VictimProcess victim = launcher.start(plan, home.resolve("root"), home)) {
      oracle = victim.oracle();
      victim.recordForever();
      victim.liveOn(random.nextInt(MAX_MILLIS));
      for (int i = 0; i < SNAPSHOTS; i++) {
        durable.add(Durable.now(plan, oracle));
        mix.take(victim.root());
      }
      victim.kill();
    }
    for (int i = 0; i < IMAGES_PER_VICTIM; i++, images++) {
      int base = random.nextInt(SNAPSHOTS);
      Path image = Files.createDirectory(home.resolve("image-" + i));
      mix.image(base, sectorBytes(), random, image);
      int before = tally.details().size();
      checkRun(plan, oracle, image, durable.get(base));
      if (tally.details().size() > before) {
        System.out.println("evidence: plan=" + plan + ", base=" + base + ", " + image);
        return;
      }
      VictimProcess.delete(image);
    }
    VictimProcess.delete(home);
  }

  private void checkRun(Plan plan, Oracle oracle, Path image, Durable durable) throws IOException {
    boolean isPromised = !durable.isNothing();
    List<Run> runs = Runs.under(image).list();
    if (runs.isEmpty() && isPromised) {
      tally.lost(1, "the run: image=" + image);
    }
    for (Run run : runs) {
      try {
        tally.add(VictimCheck.ofPowerCut(plan, oracle, Seen.of(run.report()), durable));
      } catch (IOException e) {
        // Without anything durable there may be nothing that can be read.
        if (isPromised) {
          tally.lost(1, "the run: " + e.getMessage());
        }
      }
    }
  }

  private int sectorBytes() {
    return random.nextBoolean() ? 512 : 4096;
  }
}
