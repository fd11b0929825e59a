package cairn.stress;

import cairn.journal.Entry;
import cairn.journal.JournalConsumer;
import cairn.journal.JournalReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The process that is killed while it consumes a journal. It keeps, in a file outside, what it has
 * seen and acknowledged.
 *
 * <p>Arguments: plan, directory of the journal, file of its words. It prints its position, then
 * consumes until it is killed. At the end of its input it halts.
 */
final class ConsumerVictim {
  static final String NAME = "killed";
  static final int WORDS_BYTES = 64;

  /** Where in the file: the first number that was handed over, and the last. */
  static final int FIRST = 0;

  static final int LAST = 8;

  /** Up to which number it began to acknowledge, and was done. */
  static final int ACKNOWLEDGING = 16;

  static final int ACKNOWLEDGED = 24;

  /** How many entries did not follow the one before, or were not what was appended. */
  static final int WRONG = 32;

  private static final Duration POLL = Duration.ofMillis(50);
  private static final int MAX_BATCH = 40;

  private ConsumerVictim() {}

  public static void main(String[] args) throws Exception {
    JournalPlan plan = JournalPlan.parse(args[0]);
    SharedWords words = SharedWords.open(Path.of(args[2]));
    Thread watch = new Thread(ConsumerVictim::haltWithParent, "watch");
    watch.setDaemon(true);
    watch.start();
    try (JournalConsumer consumer = JournalReader.of(Path.of(args[1])).consumer(NAME)) {
      System.out.println(consumer.acknowledged());
      System.out.flush();
      long last = consumer.acknowledged();
      for (long batch = 0; ; batch++) {
        int size = (int) (Plan.bits(plan.seed(), batch) >>> 40) % MAX_BATCH + 1;
        for (Entry entry = null; size > 0; size -= entry == null ? 0 : 1) {
          entry = consumer.next(POLL);
          if (entry != null) {
            see(plan, entry, last, words);
            last = entry.sequence();
          }
        }
        words.putRelease(ACKNOWLEDGING, last);
        consumer.acknowledge(last);
        words.putRelease(ACKNOWLEDGED, last);
      }
    }
  }

  private static void see(JournalPlan plan, Entry entry, long last, SharedWords words) {
    JournalPlan.Author author = JournalPlan.author(entry);
    if (entry.sequence() != last + 1 || author == null || !plan.isExact(entry, author)) {
      words.putRelease(WRONG, words.getAcquire(WRONG) + 1);
    }
    if (words.getAcquire(FIRST) == 0) {
      words.putRelease(FIRST, entry.sequence());
    }
    words.putRelease(LAST, entry.sequence());
  }

  private static void haltWithParent() {
    try {
      while (System.in.read() >= 0) {}
    } catch (IOException e) {
      // As the end.
    }
    Runtime.getRuntime().halt(1);
  }
}
