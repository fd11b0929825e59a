package cairn.journal;

import cairn.Durability;
import cairn.format.Secrets;
import cairn.storage.ModelDisk;
import cairn.storage.Promises;
import cairn.storage.SegmentName;
import cairn.storage.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * One journal on a model disk, driven call by call on one thread, beside the promises it has made;
 * and the judge of whatever a death leaves.
 */
final class JournalModel {
  /*
   * A history is a text, one letter a call:
   *   a b c d e  append a record of 0, 1, 200, 481, 3,000 bytes
   *   .          a pass of the committer, as its thread would make it
   *   F          force everything
   *   k K        a consumer takes and acknowledges one entry, or all
   *   C          close and open again
   *   D          the process dies and another opens the journal
   *   P          the power fails, and another process opens what is left
   *   S H        the disk is full from now on; there is room again
   *   x          one of the next operations fails
   */

  static final String CONSUMER = "c";
  private static final int[] LENGTHS = {0, 1, 200, 481, 3000};

  /** What is varied between runs of the same history. */
  record Setting(
      Durability durability, long retainBytes, boolean deletesAcknowledged, boolean isMappable) {
    static Setting of(Durability durability) {
      return new Setting(durability, Long.MAX_VALUE, false, true);
    }
  }

  /** Called after each change of the disk. */
  interface Observer {
    void changed(JournalModel model);
  }

  private final Setting setting;
  private final @Nullable Observer observer;
  private final int goOnPercent;

  /** What calls of a random history choose by. */
  Random chance = new Random(1);

  private final Set<Long> judged = new HashSet<>();
  ModelDisk disk;
  final Promises promises;
  private @Nullable GroupCommit commit;
  private @Nullable Journal journal;
  private @Nullable JournalConsumer consumer;
  long acknowledged;
  private long acknowledging;
  private int faultsBefore;
  int errors;
  long images;

  /**
   * A journal that is not opened yet.
   *
   * @param goOnPercent how many of the images the next process opens, besides reading them
   */
  JournalModel(Setting setting, ModelDisk disk, int goOnPercent, @Nullable Observer observer) {
    this(setting, disk, new Promises(), 0, 0, goOnPercent, observer);
  }

  private JournalModel(
      Setting setting,
      ModelDisk disk,
      Promises promises,
      long acknowledged,
      long acknowledging,
      int goOnPercent,
      @Nullable Observer observer) {
    this.setting = setting;
    this.disk = disk;
    this.promises = promises;
    this.acknowledged = acknowledged;
    this.acknowledging = acknowledging;
    this.goOnPercent = goOnPercent;
    this.observer = observer;
  }

  // ---- driving

  void run(String history) {
    for (char call : history.toCharArray()) {
      watch();
      try {
        if (journal == null && call != 'D') {
          open();
        }
        call(call);
      } catch (IOException | UncheckedIOException e) {
        errors++;
      }
      note();
    }
    disk.onStep(null);
  }

  private void watch() {
    Observer observed = observer;
    disk.onStep(
        observed == null
            ? null
            : () -> {
              note();
              observed.changed(this);
            });
  }

  /** What can be asked at any moment is promised at that moment. */
  private void note() {
    Journal open = journal;
    if (open != null) {
      promises.durable(open.durableSequence());
    }
  }

  private Journal.Builder builder() {
    Journal.Builder builder =
        Journal.builder(Path.of("model"))
            .durability(setting.durability)
            .segmentBytes(16 * 1024)
            .stagingBytes(16 * 1024)
            .whenFull(WhenFull.block(Duration.ofSeconds(10)));
    builder.manual = true;
    builder.clock = () -> 1_700_000_000_000L;
    if (setting.retainBytes != Long.MAX_VALUE) {
      builder.retainBytes(setting.retainBytes);
    }
    return setting.deletesAcknowledged ? builder.deleteAcknowledged() : builder;
  }

  void open() throws IOException {
    commit = null;
    journal = null;
    GroupCommit opened =
        new GroupCommit(builder(), disk, new ModelStaging(disk, setting.isMappable));
    commit = opened;
    journal = new Journal(disk, opened, Secrets.NONE, null);
    long last = journal.lastSequence();
    if (last < promises.floor() || last < acknowledged) {
      throw new AssertionError(
          "numbers would be used twice: last="
              + last
              + ", promised="
              + promises
              + ", acknowledged="
              + acknowledged);
    }
  }

  private void call(char call) throws IOException {
    switch (call) {
      case '.' -> commit().runOnce(!setting.durability.equals(Durability.process()));
      case 'F' -> journal().force(Duration.ZERO);
      case 'k' -> acknowledge(1);
      case 'K' -> acknowledge(Integer.MAX_VALUE);
      case 'C' -> {
        closeConsumer();
        Journal closing = journal();
        journal = null;
        closing.close();
        promises.durable(closing.durableSequence());
        open();
      }
      case 'D' -> {
        closeConsumer();
        commit = null;
        journal = null;
        faultsBefore += disk.faultsHit();
        disk = disk.afterProcessDeath();
        watch();
        open();
      }
      case 'P' -> losePower();
      case 'S' -> disk.failFrom(ModelDisk.Fault.NO_SPACE, ModelDisk.Fault.NO_SPACE.operations(), 1);
      case 'H' -> disk.heal();
      case 'x' -> {
        ModelDisk.Fault[] faults = ModelDisk.Fault.values();
        ModelDisk.Fault fault = faults[chance.nextInt(faults.length)];
        disk.fail(fault, fault.operations(), 1 + chance.nextInt(12));
      }
      default -> append(LENGTHS[call - 'a']);
    }
  }

  private void losePower() throws IOException {
    consumer = null;
    commit = null;
    journal = null;
    noteRemoved(read(disk.afterProcessDeath()));
    List<ModelDisk> left = new ArrayList<>();
    disk.crashImages(1 + chance.nextInt(4), chance, left::add);
    disk = left.get(chance.nextInt(left.size()));
    List<Promises.Found> found = read(disk);
    promises.checkAfterPowerLoss(found);
    checkAcknowledged(disk);
    promises.afterPowerLoss(found);
    acknowledged = JournalReader.consumers(disk).getOrDefault(CONSUMER, 0L);
    acknowledging = acknowledged;
    watch();
    open();
  }

  private Journal journal() {
    if (journal == null) {
      throw new AssertionError("the journal is not open");
    }
    return journal;
  }

  private GroupCommit commit() {
    if (commit == null) {
      throw new AssertionError("the journal is not open");
    }
    return commit;
  }

  long append(int length) {
    long expected = journal().lastSequence() + 1;
    byte[] bytes = Promises.payload(expected, length);
    promises.attempt(expected, bytes);
    long sequence;
    try {
      sequence = journal().append(bytes);
    } catch (UncheckedIOException e) {
      // It has its number, and survives process death where the staging does: so says the method.
      if (setting.isMappable) {
        promises.returned(expected);
      }
      throw e;
    }
    if (sequence == Journal.DROPPED) {
      return sequence;
    }
    if (sequence != expected) {
      throw new AssertionError("number: returned=" + sequence + ", expected=" + expected);
    }
    promises.returned(sequence);
    if (setting.durability.equals(Durability.power())) {
      promises.durable(sequence);
    }
    return sequence;
  }

  private void acknowledge(int count) throws IOException {
    JournalConsumer open = consumer;
    if (open == null) {
      open = new JournalConsumer(disk, CONSUMER, () -> true, null);
      consumer = open;
      if (open.acknowledged() < acknowledged) {
        throw new AssertionError(
            "acknowledged went back: promised=" + acknowledged + ", found=" + open.acknowledged());
      }
    }
    long last = 0;
    for (int i = 0; i < count; i++) {
      Entry entry = open.next(Duration.ZERO);
      if (entry == null) {
        break;
      }
      last = entry.sequence();
    }
    if (last > 0) {
      acknowledging = Math.max(acknowledging, last);
      open.acknowledge(last);
      acknowledged = Math.max(acknowledged, last);
    }
  }

  private void closeConsumer() throws IOException {
    JournalConsumer closing = consumer;
    consumer = null;
    if (closing != null) {
      closing.close();
    }
  }

  int faultsHit() {
    return faultsBefore + disk.faultsHit();
  }

  // ---- judging

  /** {@return all entries, as a reader in another process finds them when no writer lives} */
  static List<Promises.Found> read(ModelDisk disk) {
    List<Promises.Found> found = new ArrayList<>();
    try {
      new JournalReader(disk, () -> false)
          .replay(entry -> found.add(new Promises.Found(entry.sequence(), entry.bytes())));
    } catch (IOException e) {
      throw new AssertionError("an image can't be read", e);
    }
    return found;
  }

  private static List<Promises.Found> followed(ModelDisk disk, long from) throws IOException {
    List<Promises.Found> found = new ArrayList<>();
    try (JournalFollower follower = new JournalFollower(disk, from, () -> false)) {
      for (Entry entry; (entry = follower.poll(Duration.ZERO)) != null; ) {
        found.add(new Promises.Found(entry.sequence(), entry.bytes()));
      }
    }
    return found;
  }

  /** Process death now, and power loss now. */
  void judgeDeaths(int limit, Random random) {
    ModelDisk next = disk.afterProcessDeath();
    List<Promises.Found> found = read(next);
    noteRemoved(found);
    promises.checkAfterProcessDeath(found);
    checkAcknowledged(next);
    goOn(next, found, new Promises(promises), random);
    images++;
    images +=
        disk.crashImages(
            limit,
            random,
            image -> {
              List<Promises.Found> left = read(image);
              promises.checkAfterPowerLoss(left);
              checkAcknowledged(image);
              Promises then = new Promises(promises);
              then.afterPowerLoss(left);
              goOn(image, left, then, random);
            });
  }

  /** What is gone from the front was deleted; was it allowed? */
  private void noteRemoved(List<Promises.Found> found) {
    if (setting.deletesAcknowledged) {
      long first = found.isEmpty() ? acknowledging + 1 : found.get(0).sequence();
      long removed = promises.lastBelow(first);
      if (removed > acknowledging) {
        throw new AssertionError(
            "deleted and not acknowledged: sequence="
                + removed
                + ", acknowledged="
                + acknowledging);
      }
      promises.removed(removed);
    } else if (setting.retainBytes != Long.MAX_VALUE) {
      // By size: what is left may hold nothing but a torn end, and take its size all the same.
      long first = found.isEmpty() ? Long.MAX_VALUE : found.get(0).sequence();
      promises.removed(promises.lastBelow(first));
    }
  }

  private void checkAcknowledged(ModelDisk image) {
    try {
      long there = JournalReader.consumers(image).getOrDefault(CONSUMER, 0L);
      if (there < acknowledged || there > acknowledging) {
        throw new AssertionError(
            "acknowledged: promised="
                + acknowledged
                + ", tried="
                + acknowledging
                + ", found="
                + there);
      }
    } catch (IOException e) {
      throw new AssertionError("positions can't be read", e);
    }
  }

  /** The next process opens what is there, changes nothing of it, and goes on. */
  private void goOn(ModelDisk image, List<Promises.Found> found, Promises then, Random random) {
    if (random.nextInt(100) >= goOnPercent || !judged.add(fingerprint(image, then))) {
      return;
    }
    ModelDisk untouched = image.afterProcessDeath();
    try {
      JournalModel next =
          new JournalModel(setting, untouched, then, acknowledged, acknowledging, 0, null);
      next.open();
      next.noteRemoved(read(untouched));
      requireSame("after opening", found, read(untouched));
      requireDurableIsDurable(next, random);
      next.run("b");
      next.note();
      next.noteRemoved(read(untouched));
      next.promises.checkAfterProcessDeath(read(untouched));
      requireDurableIsDurable(next, random);
      next.journal().close();
      List<Promises.Found> all = read(untouched);
      long appended = all.get(all.size() - 1).sequence();
      if (found.stream().anyMatch(one -> one.sequence() >= appended)) {
        throw new AssertionError("number used twice: sequence=" + appended);
      }
      requireSame("after one more", found, all.subList(0, all.size() - 1));
      requireSame("as followed", all, followed(untouched, 1));
    } catch (IOException e) {
      throw new AssertionError("an image can't be opened: files=" + image.contents().keySet(), e);
    }
  }

  private static void requireDurableIsDurable(JournalModel model, Random random) {
    model.note();
    model.disk.crashImages(3, random, image -> model.promises.checkAfterPowerLoss(read(image)));
  }

  private void requireSame(String when, List<Promises.Found> expected, List<Promises.Found> found) {
    // Retention may take more at an open, from the front.
    List<Promises.Found> tail = expected;
    if (setting.deletesAcknowledged || setting.retainBytes != Long.MAX_VALUE) {
      tail = expected.subList(Math.max(0, expected.size() - found.size()), expected.size());
    }
    boolean same = tail.size() == found.size();
    for (int i = 0; same && i < found.size(); i++) {
      same =
          tail.get(i).sequence() == found.get(i).sequence()
              && java.util.Arrays.equals(tail.get(i).bytes(), found.get(i).bytes());
    }
    if (!same) {
      throw new AssertionError(
          when + ": expected=" + sequences(expected) + ", found=" + sequences(found));
    }
  }

  static List<Long> sequences(List<Promises.Found> found) {
    return found.stream().map(Promises.Found::sequence).toList();
  }

  private static long fingerprint(ModelDisk image, Promises then) {
    Checksum low = new CRC32C();
    Checksum high = new java.util.zip.CRC32();
    for (Checksum sum : List.of(low, high)) {
      image
          .contents()
          .forEach(
              (name, bytes) -> {
                sum.update(name.getBytes(java.nio.charset.StandardCharsets.UTF_8));
                sum.update(bytes, 0, bytes.length);
              });
      sum.update(then.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
    return high.getValue() << 32 | low.getValue();
  }

  /** {@return the segments that are there} */
  static int segments(Storage disk) throws IOException {
    return SegmentName.numbers(disk).size();
  }
}
