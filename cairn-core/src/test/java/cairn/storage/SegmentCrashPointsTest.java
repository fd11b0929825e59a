package cairn.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import cairn.format.JournalLayout;
import cairn.storage.ModelDisk.Fault;
import cairn.storage.ModelDisk.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The segment writer, stopped after every change it makes to the disk: whatever process death or
 * power loss leaves there, nothing that was called durable is missing, and nothing is made up.
 */
class SegmentCrashPointsTest {
  private static final int SEGMENT = 8192;
  private static final int IMAGES = 160;

  /** Calls of the writer: 'a' to 'e' add a record of a length, then what a letter says. */
  private static final List<String> HISTORIES =
      List.of(
          "aF", "aFbFcF", "abcFdeF", "aWbWcFdF", "eFeFeFeF", "eWeWeWaF", "aFNbFNcF", "eFeFXeFXa");

  private long images;

  private static int length(char letter) {
    return new int[] {0, 1, 200, 481, 1500}[letter - 'a'];
  }

  /** What a reader makes of a directory: sound frames, each number once, in order. */
  private static List<Promises.Found> read(Storage disk) {
    TreeMap<Long, byte[]> found = new TreeMap<>();
    try {
      for (long number : SegmentName.numbers(disk)) {
        try (SegmentScan scan =
            SegmentScan.open(disk, SegmentName.of(number), true, (file, offset, text) -> {})) {
          while (scan.next()) {
            // What an error left of a batch may have holes, which the next segment fills.
            byte[] before = found.put(scan.sequence(), scan.payload());
            if (before != null && !Arrays.equals(before, scan.payload())) {
              throw new AssertionError("two records of one number: sequence=" + scan.sequence());
            }
          }
        }
      }
    } catch (IOException e) {
      throw new AssertionError("an image can't be read", e);
    }
    return found.entrySet().stream()
        .map(one -> new Promises.Found(one.getKey(), one.getValue()))
        .toList();
  }

  /** One process that writes, and re-adds from memory what an error took, as callers must. */
  private final class Writer {
    final ModelDisk disk;
    final Promises promises;
    final SegmentLog log;
    private final List<byte[]> unforced = new ArrayList<>();
    private long sequence;
    private boolean force = true;
    int errors;

    Writer(ModelDisk disk, Promises promises) {
      this.disk = disk;
      this.promises = promises;
      List<SegmentLog.Segment> found = new ArrayList<>();
      List<Promises.Found> records = read(disk);
      sequence = records.isEmpty() ? 0 : records.get(records.size() - 1).sequence();
      try {
        for (long number : SegmentName.numbers(disk)) {
          found.add(new SegmentLog.Segment(number, 0, SEGMENT, sequence, 0));
        }
        SegmentName.deleteUnfinished(disk);
      } catch (IOException e) {
        // Then they stay.
      }
      log =
          new SegmentLog(
              disk, JournalLayout.KIND_JOURNAL, found, sequence, SEGMENT, SEGMENT, () -> 1000);
    }

    void run(String history) {
      for (char call : history.toCharArray()) {
        try {
          call(call);
        } catch (IOException e) {
          errors++;
          again();
        }
        promises.durable(log.durableSequence());
      }
    }

    private void call(char call) throws IOException {
      switch (call) {
        case 'F', 'W' -> {
          force = call == 'F';
          log.commit(force);
          promises.returned(log.addedSequence());
        }
        case 'N' -> log.endSegment();
        case 'X' -> expireAll();
        default -> {
          byte[] bytes = Promises.payload(++sequence, length(call));
          promises.attempt(sequence, bytes);
          unforced.add(bytes);
          add(sequence, bytes);
        }
      }
      while (log.durableSequence() > sequence - unforced.size()) {
        unforced.remove(0);
      }
    }

    private void expireAll() throws IOException {
      promises.removed(promises.durable());
      log.expire((oldest, total) -> true);
    }

    private void add(long number, byte[] bytes) throws IOException {
      log.add(number, 1000 + number, JournalLayout.TYPE_BYTES, 0, bytes, 0, bytes.length, force);
    }

    /** Adds everything that isn't durable again, until the disk takes it or three times failed. */
    private void again() {
      for (int attempt = 0; attempt < 3; attempt++) {
        try {
          long number = sequence - unforced.size();
          for (byte[] bytes : List.copyOf(unforced)) {
            if (++number > log.durableSequence()) {
              add(number, bytes);
            }
          }
          log.commit(true);
          promises.returned(log.addedSequence());
          while (log.durableSequence() > sequence - unforced.size()) {
            unforced.remove(0);
          }
          return;
        } catch (IOException e) {
          errors++;
        }
      }
    }
  }

  private void checkDeathsAtEveryStep(ModelDisk disk, Writer writer, int limit, Random random) {
    disk.onStep(
        () -> checkDeaths(disk, writer.promises, writer.log.durableSequence(), limit, random));
  }

  private void checkDeaths(
      ModelDisk disk, Promises promises, long durable, int limit, Random random) {
    promises.durable(durable);
    List<Promises.Found> afterProcessDeath = read(disk.afterProcessDeath());
    promises.checkAfterProcessDeath(afterProcessDeath);
    images +=
        1 + disk.crashImages(limit, random, image -> promises.checkAfterPowerLoss(read(image)));
  }

  /** As the model judges it, with what led there. */
  private static void explained(String what, ModelDisk disk, Runnable check) {
    try {
      check.run();
    } catch (AssertionError e) {
      fail(what + ": " + e.getMessage() + "\n  " + String.join("\n  ", disk.trace()), e);
    }
  }

  @Test
  void whateverADeathLeavesNothingDurableIsMissing() {
    for (int sector : new int[] {512, 4096}) {
      for (String history : HISTORIES) {
        ModelDisk disk = new ModelDisk(sector).showStaleBlocks();
        explained(
            "sector=" + sector + ", history=" + history,
            disk,
            () -> {
              Writer writer = new Writer(disk, new Promises());
              checkDeathsAtEveryStep(disk, writer, IMAGES, new Random(7));
              writer.run(history);
              assertThat(writer.errors).isZero();
              disk.onStep(null);
              writer.promises.checkAfterProcessDeath(read(disk));
              assertThat(writer.promises.returned()).isPositive();
            });
      }
    }
    System.out.println("segments: images checked=" + images);
    assertThat(images).isGreaterThan(1_500);
  }

  @Test
  void whicheverOperationFailsHoweverNothingDurableIsMissing() {
    int faults = 0;
    for (Fault fault : Fault.values()) {
      for (String history : HISTORIES) {
        for (int nth = 1; ; nth++) {
          ModelDisk disk = new ModelDisk().showStaleBlocks().fail(fault, fault.operations(), nth);
          explained(
              "fault=" + fault + ", history=" + history + ", nth=" + nth,
              disk,
              () -> {
                Writer writer = new Writer(disk, new Promises());
                Random random = new Random(7);
                disk.onStep(
                    () -> {
                      if (disk.faultsHit() > 0) {
                        long durable = writer.log.durableSequence();
                        checkDeaths(disk, writer.promises, durable, 4, random);
                      }
                    });
                writer.run(history + "cF");
              });
          if (disk.faultsHit() == 0) {
            break;
          }
          faults++;
        }
      }
    }
    System.out.println("segments: faults=" + faults + ", images checked=" + images);
    assertThat(faults).isGreaterThan(500);
  }

  @Test
  void whoWritesOnAfterADeathLosesNothingAndUsesNoNumberTwice() {
    Random random = new Random(11);
    for (String history : HISTORIES) {
      ModelDisk disk = new ModelDisk().showStaleBlocks();
      Writer writer = new Writer(disk, new Promises());
      List<ModelDisk> left = new ArrayList<>();
      List<Promises> promised = new ArrayList<>();
      disk.onStep(
          () -> {
            writer.promises.durable(writer.log.durableSequence());
            disk.crashImages(
                6,
                random,
                image -> {
                  left.add(image);
                  Promises then = new Promises(writer.promises);
                  then.afterPowerLoss(read(image));
                  promised.add(then);
                });
          });
      writer.run(history);
      for (int i = 0; i < left.size(); i++) {
        ModelDisk next = left.get(i);
        Promises promises = promised.get(i);
        explained(
            "history=" + history + ", death=" + i,
            next,
            () -> {
              Writer successor = new Writer(next, promises);
              checkDeathsAtEveryStep(next, successor, 4, random);
              successor.run("bFcF");
            });
      }
    }
    System.out.println("segments: images checked after a second death=" + images);
    assertThat(images).isGreaterThan(1_500);
  }

  /**
   * Else the one before it seems to end a number earlier, and is deleted when that is acknowledged.
   */
  @Test
  void aSegmentThatBeginsWithAGapDoesNotClaimTheLastNumberOfTheOneBefore() throws IOException {
    ModelDisk disk = new ModelDisk();
    Writer writer = new Writer(disk, new Promises());
    writer.run("abcFN");
    writer.log.add(3, 1000, JournalLayout.TYPE_GAP, 0, new byte[10], 0, 10, true);
    writer.log.commit(true);

    try (SegmentScan scan =
        SegmentScan.open(disk, SegmentName.of(2), true, (file, offset, text) -> {})) {
      assertThat(scan.firstSequence()).isEqualTo(4);
      assertThat(scan.next()).isTrue();
      assertThat(scan.sequence()).isEqualTo(3);
    }
  }

  @Test
  void aFileThatIsBeingMadeIsRemovedByTheNextWriter() throws IOException {
    ModelDisk disk = new ModelDisk();
    disk.fail(Fault.IO_ERROR, EnumSet.of(Operation.RENAME), 1);
    disk.onStep(null);
    Writer writer = new Writer(disk, new Promises());
    writer.run("aF");
    ModelDisk dying = new ModelDisk();
    Set<String> left = new TreeSet<>();
    Writer second = new Writer(dying, new Promises());
    dying.onStep(() -> left.addAll(dying.afterProcessDeath().contents().keySet()));
    second.run("aF");
    assertThat(left).contains(SegmentName.unfinished(SegmentName.of(1)));

    ModelDisk found = new ModelDisk().put(SegmentName.unfinished(SegmentName.of(1)), new byte[9]);
    new Writer(found, new Promises());

    assertThat(found.list()).isEmpty();
    assertThat(disk.list()).containsExactly(SegmentName.of(1));
    assertThat(Arrays.asList(SegmentName.of(1), "journal-000002x", ".new-journal-000003"))
        .filteredOn(name -> SegmentName.number(name) > 0)
        .hasSize(1);
  }
}
