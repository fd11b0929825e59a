package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import cairn.format.BoxLayout;
import cairn.report.Report;
import cairn.report.UnfinishedSpan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damages the box of a real run in every way and place, and reads it.
 *
 * <p>Bytes that were never written are zero, most of them in the vitals; unless {@code
 * cairn.stress.exhaustive} is set, only a sample of those is damaged, of the trail every third
 * byte, and each in one way.
 */
@Tag("slow")
@Timeout(value = 900, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DamageTest {
  private static final boolean EXHAUSTIVE = Boolean.getBoolean("cairn.stress.exhaustive");
  private static final int TURNS = 3;
  private static final int TURN = new Random().nextInt(TURNS);
  private static final int LANES = 2;
  private static final int SECTOR = 512;
  private static final int PATTERNS = 4;

  /** One sector touches so many records at most: they are 32-byte aligned. */
  private static final int MOST_IN_A_SECTOR = SECTOR / 32 + 2;

  private static final int LONGEST_MILLIS = 10_000;

  @TempDir static Path directory;

  private static RecordedRun recorded;
  private static RecordedRun other;
  private static Box box;
  private static Report sound;
  private static long soundAllocates;

  private final List<DamagedBox> lanes = new ArrayList<>();

  @BeforeAll
  static void recordTwoRuns() throws Exception {
    recorded = RecordedRun.record(11, Files.createDirectory(directory.resolve("a")));
    other = RecordedRun.record(12, Files.createDirectory(directory.resolve("b")));
    box = new Box(recorded.box());
    DamagedBox whole = new DamagedBox(recorded.box());
    // The first reading also loads classes.
    whole.read();
    whole.takeMostAllocated();
    sound = whole.read();
    soundAllocates = whole.takeMostAllocated();
    Seen seen = Seen.of(sound);
    assertThat(VictimCheck.ofKilled(recorded.plan(), recorded.oracle(), seen).details()).isEmpty();
    assertThat(sound.openSpans()).isNotEmpty();
    assertThat(sound.vitals()).isNotEmpty();
    System.out.println(
        "box="
            + box.bytes.length
            + " bytes, turn="
            + TURN
            + ", one reading allocates "
            + soundAllocates);
  }

  @AfterEach
  void nothingTookLongOrMuch() {
    for (DamagedBox run : lanes) {
      assertThat(run.longestMillis()).isLessThan(LONGEST_MILLIS);
      assertThat(run.takeMostAllocated()).isLessThan(2 * soundAllocates + 2L * box.bytes.length);
    }
  }

  @Test
  void oneDamagedByteCostsAtMostOneThing() throws Exception {
    byte[] bytes = box.bytes;
    DamageCost costs = recorded.costs(sound);
    Box.Section trail = box.section(BoxLayout.TRAIL);
    int[] offsets = places(bytes.length, at -> isWorthDamaging(at));
    damageAll(
        offsets,
        (run, offset) -> {
          boolean withTrail = trail.contains(offset) || offset % 16 == 0;
          for (int pattern = 0; pattern < (EXHAUSTIVE ? PATTERNS : 1); pattern++) {
            byte damaged = flip(bytes[offset], offset, pattern);
            run.write(offset, damaged);
            DamageCost.Difference difference = costs.of(run.read(), List.of(), withTrail);
            run.mend(offset, 1);
            // What is kept in two copies, such as the end of the run, survives any one byte.
            boolean isFine = difference.lost() <= 1 && !difference.details().contains("verdict");
            if (!isFine || !difference.invented().isEmpty()) {
              return "byte at %s: 0x%02x -> 0x%02x: %s"
                  .formatted(box.describe(offset), bytes[offset], damaged, difference);
            }
          }
          return null;
        });
  }

  @Test
  void zeroedSectorCostsWhatWasInItAndInventsNothing() throws Exception {
    DamageCost costs = recorded.costs(sound);
    damageSectors(sector -> new byte[SECTOR], report -> costs.of(report));
  }

  @Test
  void sectorOfAnotherRunCostsWhatWasInItAndInventsNothing() throws Exception {
    DamageCost costs = recorded.costs(sound);
    damageSectors(
        sector -> Arrays.copyOfRange(other.box(), sector * SECTOR, (sector + 1) * SECTOR),
        report -> costs.of(report));
  }

  @Test
  void sectorOfAnEarlierMomentShowsOnlyWhatWasTrueThenOrIsNow() throws Exception {
    DamageCost costs = recorded.costs(sound);
    List<UnfinishedSpan> openThen = new DamagedBox(recorded.older()).read().openSpans();
    damageSectors(
        sector -> Arrays.copyOfRange(recorded.older(), sector * SECTOR, (sector + 1) * SECTOR),
        report -> costs.of(report, openThen, true));
  }

  @Test
  void truncatedBoxIsReadAsFarAsItGoesAndInventsNothing() throws Exception {
    DamageCost costs = recorded.costs(sound);
    int length = box.bytes.length;
    // Every length around each boundary, and every 61st between.
    int[] lengths =
        places(
            length,
            at ->
                EXHAUSTIVE
                    || at % 61 == 0
                    || at % SECTOR < 2
                    || at % SECTOR > SECTOR - 3
                    || at < 1024);
    damageAll(
        lengths,
        (run, cut) -> {
          Report report;
          try {
            report = run.readCut(cut);
          } catch (IOException e) {
            return cut < BoxLayout.HEADER_SIZE ? null : "length " + cut + ": " + e;
          }
          if (cut < BoxLayout.HEADER_SIZE) {
            return "length " + cut + " is read";
          }
          DamageCost.Difference difference = costs.of(report);
          // Without the identity there is no run to compare with.
          boolean hasIdentity = cut >= box.section(BoxLayout.IDENTITY).offset() + 8192;
          List<String> invented = new ArrayList<>(difference.invented());
          if (!hasIdentity) {
            invented.removeIf(text -> text.startsWith("identity "));
          }
          return invented.isEmpty() ? null : "length " + cut + ": " + invented;
        });
  }

  @Test
  void boxWithoutBothHeadersIsAnIoExceptionAndWithOneIsWhole() throws Exception {
    DamagedBox run = lane();
    int copy = box.bytes.length - BoxLayout.TRAILER_SIZE;
    DamageCost costs = recorded.costs(sound);

    run.write(0, new byte[SECTOR]);
    assertThat(costs.of(run.read()).invented()).isEmpty();
    assertThat(costs.of(run.read()).lost()).isZero();
    run.mend(0, SECTOR);
    run.write(copy, new byte[SECTOR]);
    assertThat(costs.of(run.read()).lost()).isZero();

    run.write(0, new byte[SECTOR]);
    assertThatIOException().isThrownBy(run::read).withMessageContaining("box");
  }

  private interface Damage {
    /** {@return what is wrong after that damage, or null} */
    String at(DamagedBox run, int place) throws IOException;
  }

  private void damageSectors(
      IntFunction<byte[]> content, Function<Report, DamageCost.Difference> cost) throws Exception {
    int[] sectors = places(box.bytes.length / SECTOR, sector -> true);
    damageAll(
        sectors,
        (run, sector) -> {
          run.write(sector * SECTOR, content.apply(sector));
          DamageCost.Difference difference = cost.apply(run.read());
          run.mend(sector * SECTOR, SECTOR);
          boolean isFine = difference.lost() <= MOST_IN_A_SECTOR && difference.invented().isEmpty();
          return isFine ? null : "sector at " + box.describe(sector * SECTOR) + ": " + difference;
        });
  }

  private void damageAll(int[] places, Damage damage) throws Exception {
    long begin = System.nanoTime();
    ExecutorService executor = Executors.newFixedThreadPool(LANES);
    List<String> wrong = new ArrayList<>();
    try {
      List<Future<List<String>>> results = new ArrayList<>();
      for (int lane = 0; lane < LANES; lane++) {
        int first = lane;
        DamagedBox run = lane();
        Callable<List<String>> task = () -> damageEach(run, places, first, damage);
        results.add(executor.submit(task));
      }
      for (Future<List<String>> result : results) {
        wrong.addAll(result.get());
      }
    } finally {
      executor.shutdownNow();
    }
    System.out.println(
        places.length + " variants, " + (System.nanoTime() - begin) / 1_000_000 + " ms");
    assertThat(places.length).isPositive();
    assertThat(wrong).isEmpty();
  }

  private static List<String> damageEach(DamagedBox run, int[] places, int first, Damage damage)
      throws IOException {
    List<String> wrong = new ArrayList<>();
    for (int i = first; i < places.length; i += LANES) {
      String text;
      try {
        text = damage.at(run, places[i]);
      } catch (RuntimeException | Error e) {
        throw new AssertionError("reading threw: " + box.describe(places[i]), e);
      }
      if (text != null && wrong.size() < 20) {
        wrong.add(text);
      }
    }
    return wrong;
  }

  private DamagedBox lane() {
    DamagedBox run = new DamagedBox(recorded.box());
    lanes.add(run);
    return run;
  }

  private static int[] places(int end, IntPredicate wanted) {
    return IntStream.range(0, end).filter(wanted).toArray();
  }

  private static boolean isWorthDamaging(int at) {
    if (EXHAUSTIVE || at % 509 == 0) {
      return true;
    }
    // The trail is most of what is written; its other thirds have their turn in other runs.
    boolean isTurn = !box.section(BoxLayout.TRAIL).contains(at) || at % TURNS == TURN;
    return box.bytes[at] != 0 && isTurn;
  }

  /** The patterns take turns: low bit, high bit, all bits, any. Never the byte itself. */
  private static byte flip(byte value, int offset, int pattern) {
    return switch (offset + pattern & PATTERNS - 1) {
      case 0 -> (byte) (value ^ 1);
      case 1 -> (byte) (value ^ 0x80);
      case 2 -> (byte) ~value;
      default -> (byte) (value ^ (1 + (offset * 0x9E3779B1 >>> 24) % 255));
    };
  }
}
