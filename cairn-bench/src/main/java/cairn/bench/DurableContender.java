package cairn.bench;

import cairn.Durability;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One way to keep records of 250 bytes, with what a returned call survives.
 *
 * <p>Every target that {@link #open} returns takes calls from any thread.
 */
enum DurableContender {
  RAW_GROWING("raw append + `force(false)`, growing file", Survives.POWER_LOSS, Load.ONE_THREAD),
  RAW_PREALLOCATED("the same, file preallocated by writing", Survives.POWER_LOSS, Load.ONE_THREAD),
  RAW_DSYNC("preallocated, one O_DSYNC write", Survives.POWER_LOSS, Load.ONE_THREAD),
  RAW_EVERY_20(
      "preallocated, `force(false)` every 20",
      "process death; power loss takes up to 19",
      Load.ONE_THREAD),
  RAW_EVERY_100(
      "preallocated, `force(false)` every 100",
      "process death; power loss takes up to 99",
      Load.ONE_THREAD),
  LOCK_FSYNC("lock + append + `force(true)`, growing file", Survives.POWER_LOSS, Load.MANY),
  LOCK_DSYNC("lock + one O_DSYNC write, preallocated", Survives.POWER_LOSS, Load.MANY_MORE),
  TAPE("Tape `QueueFile.add`", Survives.POWER_LOSS, Load.MANY),
  SQLITE_FULL("SQLite insert, WAL, synchronous=FULL", Survives.POWER_LOSS, Load.MANY),
  SQLITE_NORMAL(
      "SQLite insert, WAL, synchronous=NORMAL",
      "process death; power loss takes what came after the last checkpoint",
      Load.MANY),
  H2_SYNC("H2 MVStore put + commit + sync", Survives.POWER_LOSS, Load.MANY),
  H2_COMMIT("H2 MVStore put + commit (no force)", Survives.PROCESS_DEATH, Load.MANY),
  CHRONICLE("Chronicle Queue append (no force)", Survives.PROCESS_DEATH, Load.MANY),
  LOG4J2("log4j2 RandomAccessFile, immediateFlush (no force)", Survives.PROCESS_DEATH, Load.MANY),
  CAIRN_PROCESS("**Cairn**, `process`", Survives.PROCESS_DEATH, Load.MANY),
  CAIRN_BOUNDED_20(
      "**Cairn**, `bounded(20, 100 ms)`",
      "process death; power loss takes 20 or 100 ms, and what came during a force",
      Load.MANY),
  CAIRN_BOUNDED_100(
      "**Cairn**, `bounded(100, 1 s)`",
      "process death; power loss takes 100 or 1 s, and what came during a force",
      Load.MANY),
  CAIRN_POWER("**Cairn**, `power`", Survives.POWER_LOSS, Load.MANY_MORE);

  /** What {@code --only} calls them. */
  static final List<String> NAMES = Stream.of(values()).map(DurableContender::cliName).toList();

  static final int RECORD_BYTES = 250;

  /** The variants of the record: a line of JSON, filled up with letters. */
  static final byte[][] RECORDS = records(DurableContender::record).toArray(byte[][]::new);

  /** The same as text, for what takes text only and ends lines itself. */
  static final String[] TEXTS =
      records(i -> new String(RECORDS[i], 0, RECORD_BYTES - 1, StandardCharsets.UTF_8))
          .toArray(String[]::new);

  private final String label;
  private final String survives;
  private final Load load;

  DurableContender(String label, String survives, Load load) {
    this.label = label;
    this.survives = survives;
    this.load = load;
  }

  /** The two answers that most rows give. */
  private static final class Survives {
    static final String POWER_LOSS = "power loss";
    static final String PROCESS_DEATH = "process death";
  }

  /** With how many threads a contender is of interest. */
  private enum Load {
    /** A bare loop: the floor for one thread. {@link #LOCK_DSYNC} is the same for many. */
    ONE_THREAD,
    MANY,
    /** The more threads, the more it has to show. */
    MANY_MORE
  }

  static DurableContender named(String cliName) {
    return valueOf(cliName.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  String cliName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** {@return what a table calls it} */
  String label() {
    return label;
  }

  /** {@return what a returned call survives} */
  String survives() {
    return survives;
  }

  /** {@return the numbers of threads that it is measured with} */
  List<Integer> threads(Settings settings) {
    List<Integer> usual = settings.quick() ? List.of(1, 16) : List.of(1, 2, 4, 8, 16);
    return switch (load) {
      case ONE_THREAD -> List.of(1);
      case MANY -> settings.threads(usual);
      case MANY_MORE -> settings.threads(Stream.concat(usual.stream(), Stream.of(64)).toList());
    };
  }

  /**
   * Opens it.
   *
   * @param directory an empty directory of its own
   */
  Target open(Path directory) throws Exception {
    return switch (this) {
      case RAW_GROWING -> RawTarget.growing(directory, 1, false);
      case RAW_PREALLOCATED -> RawTarget.preallocated(directory, 1);
      case RAW_DSYNC, LOCK_DSYNC -> RawTarget.writeThrough(directory);
      case RAW_EVERY_20 -> RawTarget.preallocated(directory, 20);
      case RAW_EVERY_100 -> RawTarget.preallocated(directory, 100);
      case LOCK_FSYNC -> RawTarget.growing(directory, 1, true);
      case TAPE -> DurablePeers.tape(directory);
      case SQLITE_FULL -> DurablePeers.sqlite(directory, "FULL");
      case SQLITE_NORMAL -> DurablePeers.sqlite(directory, "NORMAL");
      case H2_SYNC -> DurablePeers.h2(directory, true);
      case H2_COMMIT -> DurablePeers.h2(directory, false);
      case CHRONICLE -> DurablePeers.chronicle(directory);
      case LOG4J2 -> DurablePeers.log4j2(directory);
      case CAIRN_PROCESS -> new JournalTarget(directory, Durability.process());
      case CAIRN_BOUNDED_20 ->
          new JournalTarget(directory, Durability.bounded(20, Duration.ofMillis(100)));
      case CAIRN_BOUNDED_100 ->
          new JournalTarget(directory, Durability.bounded(100, Duration.ofSeconds(1)));
      case CAIRN_POWER -> new JournalTarget(directory, Durability.power());
    };
  }

  private static <T> Stream<T> records(IntFunction<T> variant) {
    return IntStream.range(0, Payload.VARIANTS).mapToObj(variant);
  }

  private static byte[] record(int i) {
    JsonLine line = new JsonLine();
    int length = line.encode(Payload.SMALL[i], 1_796_038_516_123L);
    byte[] record = new byte[RECORD_BYTES];
    Arrays.fill(record, (byte) 'x');
    System.arraycopy(line.bytes(), 0, record, 0, Math.min(length - 1, RECORD_BYTES - 1));
    record[RECORD_BYTES - 1] = '\n';
    return record;
  }
}
