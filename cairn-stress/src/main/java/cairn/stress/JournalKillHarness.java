package cairn.stress;

import cairn.journal.Entry;
import cairn.journal.JournalConsumer;
import cairn.journal.JournalFinding;
import cairn.journal.JournalFollower;
import cairn.journal.JournalReader;
import cairn.stress.JournalCheck.Generation;
import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Kills processes that append to a journal, with SIGKILL at a random moment, and lets the next one
 * go on in the same directory; after each kill the journal is checked against the oracles of all.
 *
 * <p>A follower reads along, from the first record of the first victim to the last of the last. In
 * every second directory a consumer in a process of its own does, and is killed too.
 */
final class JournalKillHarness {
  private static final List<String> DURABILITIES = List.of("process", "bounded", "power");
  private static final int[] SEGMENT_BYTES = {16 << 10, 64 << 10, 256 << 10};
  private static final int[] STAGING_BYTES = {16 << 10, 64 << 10};
  private static final int MAX_MILLIS = 120;
  private static final String ONLY_C1 = "-XX:TieredStopAtLevel=1";
  private static final int PATIENCE_MILLIS = 10_000;
  private static final int CHAIN = 6;
  private static final int LANES = 2;
  private static final Duration POLL = Duration.ofMillis(20);

  private final long seed;
  private final long end;
  private final Path directory;
  private final Launcher launcher;
  private final Tally total = new Tally();
  private long consumerKills;
  private long consumed;
  private long followed;

  private JournalKillHarness(long seed, long end, Path directory, Launcher launcher) {
    this.seed = seed;
    this.end = end;
    this.directory = directory;
    this.launcher = launcher;
  }

  /**
   * Kills that many writers, or fewer if the time is over, and prints a last line with the sums.
   *
   * @param seconds after which none is started any more
   */
  static Tally run(int kills, int seconds, long seed, Path directory, PrintStream out)
      throws Exception {
    long begin = System.nanoTime();
    Path tools = Files.createTempDirectory(directory, "tools");
    Launcher launcher = Launcher.fast(tools, JournalKillHarness::rehearse).with(ONLY_C1);
    JournalKillHarness harness =
        new JournalKillHarness(
            seed, begin + TimeUnit.SECONDS.toNanos(seconds), directory, launcher);
    ExecutorService lanes = Executors.newFixedThreadPool(LANES);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int chain = 0; chain * CHAIN < kills; chain++) {
        int number = chain;
        int length = Math.min(CHAIN, kills - chain * CHAIN);
        ends.add(
            lanes.submit(
                () -> {
                  harness.chain(number, length);
                  return null;
                }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("harness failed: seed=" + seed, e.getCause());
    } finally {
      lanes.shutdownNow();
    }
    harness.total.details().forEach(out::println);
    out.println(
        "journal "
            + harness.total
            + " followed="
            + harness.followed
            + " consumerKills="
            + harness.consumerKills
            + " consumed="
            + harness.consumed
            + " seed="
            + seed
            + " seconds="
            + (System.nanoTime() - begin) / 1_000_000_000);
    VictimProcess.delete(tools);
    return harness.total;
  }

  private static void rehearse(Launcher launcher, Path directory)
      throws IOException, InterruptedException {
    JournalPlan plan = new JournalPlan(1, 0, 2, "bounded", 16 << 10, 16 << 10, "block");
    try (JournalVictimProcess victim =
        JournalVictimProcess.start(launcher, plan, directory.resolve("journal"), directory)) {
      victim.child().obey("rounds 500");
      victim.child().end("close");
    }
  }

  private void chain(int number, int length) throws Exception {
    if (System.nanoTime() - end >= 0) {
      return;
    }
    Random random = new Random(seed + number);
    String whenFull = number % 5 == 3 ? "dropNewest" : number % 5 == 4 ? "dropOldest" : "block";
    int segmentBytes = SEGMENT_BYTES[random.nextInt(SEGMENT_BYTES.length)];
    JournalPlan plan =
        new JournalPlan(
            random.nextLong(),
            0,
            1 + random.nextInt(4),
            DURABILITIES.get(number % DURABILITIES.size()),
            segmentBytes,
            Math.min(segmentBytes, STAGING_BYTES[random.nextInt(STAGING_BYTES.length)]),
            whenFull);
    Path home = Files.createDirectory(directory.resolve("chain-" + number));
    Path journal = home.resolve("journal");
    boolean consumes = number % 2 == 0 && !whenFull.equals("dropOldest");
    Tally tally = new Tally();
    List<Generation> generations = new ArrayList<>();
    Follower follower = null;
    for (int i = 0; i < length && System.nanoTime() - end < 0; i++, plan = plan.next()) {
      try (JournalVictimProcess victim =
          JournalVictimProcess.start(launcher, plan, journal, home)) {
        generations.add(new Generation(plan, victim.oracle()));
        if (follower == null) {
          follower = new Follower(journal, plan);
          follower.start();
        }
        victim.appendForever();
        if (consumes && i % 2 == 0) {
          consumeAndKill(plan, journal, home, random, tally);
        }
        victim.child().liveOn(random.nextInt(MAX_MILLIS));
        victim.child().kill();
      }
      tally.kill();
      tally.add(JournalCheck.of(generations, journal));
    }
    try (JournalVictimProcess last = JournalVictimProcess.start(launcher, plan, journal, home)) {
      last.child().end("close"); // so that what is staged is in a segment, where the follower looks
    }
    if (follower != null) {
      follower.end(tally);
    }
    if (consumes) {
      consumeTheRest(journal, plan, tally);
    }
    add(tally, follower == null ? 0 : follower.count);
    if (tally.violations() == 0) {
      VictimProcess.delete(home);
    }
  }

  private synchronized void add(Tally tally, long count) {
    total.add(tally);
    followed += count;
  }

  private void consumeAndKill(JournalPlan plan, Path journal, Path home, Random random, Tally tally)
      throws Exception {
    Path file = home.resolve("consumer-" + System.nanoTime());
    SharedWords words = SharedWords.create(file, ConsumerVictim.WORDS_BYTES);
    long before;
    try (Child consumer =
        launcher.start(
            ConsumerVictim.class,
            home.resolve(file.getFileName() + ".log"),
            plan.toString(),
            journal.toString(),
            file.toString())) {
      before = Long.parseLong(consumer.readLine());
      for (int i = 0; words.getAcquire(ConsumerVictim.FIRST) == 0; i++) {
        if (i == PATIENCE_MILLIS) {
          tally.lost(1, "to the consumer, which gets nothing: before=" + before);
          return;
        }
        consumer.liveOn(1);
      }
      consumer.liveOn(random.nextInt(MAX_MILLIS));
      consumer.kill();
    }
    long first = words.getAcquire(ConsumerVictim.FIRST);
    long after = JournalReader.of(journal).verify().consumers().get(ConsumerVictim.NAME);
    long acknowledged = Math.max(before, words.getAcquire(ConsumerVictim.ACKNOWLEDGED));
    long acknowledging = Math.max(before, words.getAcquire(ConsumerVictim.ACKNOWLEDGING));
    if (words.getAcquire(ConsumerVictim.WRONG) > 0 || (first != 0 && first != before + 1)) {
      tally.disordered(
          "consumer: before="
              + before
              + ", first="
              + first
              + ", wrong="
              + words.getAcquire(ConsumerVictim.WRONG));
    }
    if (after < acknowledged || after > acknowledging) {
      tally.other(
          "position of the consumer: acknowledged="
              + acknowledged
              + ", acknowledging="
              + acknowledging
              + ", found="
              + after);
    }
    synchronized (this) {
      consumerKills++;
      consumed += first == 0 ? 0 : words.getAcquire(ConsumerVictim.LAST) - first + 1;
    }
  }

  private static void consumeTheRest(Path journal, JournalPlan plan, Tally tally)
      throws IOException {
    JournalReader reader = JournalReader.of(journal);
    try (JournalConsumer consumer = reader.consumer(ConsumerVictim.NAME)) {
      long last = consumer.acknowledged();
      for (Entry entry; (entry = consumer.next(Duration.ZERO)) != null; ) {
        JournalPlan.Author author = JournalPlan.author(entry);
        if (entry.sequence() != last + 1 || author == null || !plan.isExact(entry, author)) {
          tally.disordered("consumer: last=" + last + ", sequence=" + entry.sequence());
        }
        last = entry.sequence();
      }
      if (last != reader.lastSequence()) {
        tally.lost(reader.lastSequence() - last, "to the consumer: last=" + last);
      }
    }
  }

  /** Reads along while writers come and go. */
  private static final class Follower extends Thread {
    private final JournalReader reader;
    private final JournalPlan plan;
    private final boolean mayMiss;
    private final List<String> wrong = new ArrayList<>();
    private volatile boolean ended;
    private long last;
    long count;

    Follower(Path journal, JournalPlan plan) throws IOException {
      super("follower");
      setDaemon(true);
      this.reader = JournalReader.of(journal);
      this.plan = plan;
      this.mayMiss = plan.whenFull().equals("dropOldest");
    }

    @Override
    public void run() {
      try (JournalFollower follower = reader.follow(1)) {
        while (true) {
          boolean isLastLook = ended;
          Entry entry = follower.poll(isLastLook ? Duration.ZERO : POLL);
          if (entry != null) {
            see(entry);
          } else if (isLastLook) {
            break;
          }
        }
        // A write that the kill cut in two leaves a torn end: a finding, and nothing is missing for
        // it.
        if (!mayMiss && follower.findings().stream().anyMatch(JournalFinding::isLoss)) {
          wrong.add(follower.findings().toString());
        }
      } catch (IOException | RuntimeException e) {
        wrong.add(e.toString());
      }
    }

    private void see(Entry entry) {
      JournalPlan.Author author = JournalPlan.author(entry);
      boolean follows = mayMiss ? entry.sequence() > last : entry.sequence() == last + 1;
      if (!follows || author == null || !plan.isExact(entry, author)) {
        wrong.add("last=" + last + ", sequence=" + entry.sequence() + ", author=" + author);
      }
      last = entry.sequence();
      count++;
    }

    /** Ends it where the journal ends. */
    void end(Tally tally) throws IOException, InterruptedException {
      ended = true;
      join();
      wrong.forEach(text -> tally.disordered("follower: " + text));
      if (last != reader.lastSequence()) {
        tally.lost(reader.lastSequence() - last, "to the follower: last=" + last);
      }
    }
  }
}
