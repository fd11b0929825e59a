package cairn.stress;

import cairn.journal.Journal;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The process that is killed while it appends to a journal, and keeps its {@link JournalOracle}.
 *
 * <p>Arguments: plan, directory of the journal, oracle file. It prints {@code open} and the
 * journal's mode, or {@code refused} and the reason, then obeys the lines on its standard input:
 * {@code forever} appends without end, {@code rounds N} appends N records on each thread and prints
 * {@code done}, {@code durable} waits until all is durable and prints {@code true} or {@code
 * false}, {@code close} closes the journal and ends. At the end of its input it halts: it must not
 * outlive the process that started it.
 */
final class JournalVictim {
  private static final long FAILED_NANOS = 20_000_000;
  private static final long REST_NANOS = 20_000;
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int ORPHANED = 9;

  private JournalVictim() {}

  public static void main(String[] args) throws Exception {
    JournalPlan plan = JournalPlan.parse(args[0]);
    JournalOracle oracle = JournalOracle.open(Path.of(args[2]));
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Journal journal = plan.open(Path.of(args[1]))) {
      print("open " + journal.mode());
      obey(commands, plan, journal, oracle);
    } catch (java.io.IOException e) {
      print("refused " + e.getMessage());
    }
  }

  private static void obey(
      BufferedReader commands, JournalPlan plan, Journal journal, JournalOracle oracle)
      throws Exception {
    List<Appender> appenders = new ArrayList<>();
    for (int t = 0; t < plan.threads(); t++) {
      appenders.add(new Appender(plan, journal, oracle, t));
    }
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "forever" -> append(appenders, Long.MAX_VALUE);
        case "rounds" -> {
          for (Thread thread : append(appenders, Long.parseLong(words[1]))) {
            thread.join();
          }
          print("done");
        }
        case "durable" -> print(Boolean.toString(journal.force(PATIENCE)));
        case "close" -> {
          return;
        }
        default -> throw new IllegalArgumentException("unknown command: " + line);
      }
    }
    Runtime.getRuntime().halt(ORPHANED);
  }

  private static List<Thread> append(List<Appender> appenders, long rounds) {
    List<Thread> threads = new ArrayList<>();
    for (Appender appender : appenders) {
      appender.rounds = rounds;
      Thread thread = new Thread(appender, "a" + appender.thread);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    return threads;
  }

  private static void print(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** One thread's way through the plan. */
  private static final class Appender implements Runnable {
    final int thread;
    // Written before the thread starts, read by it only.
    long rounds;

    private final JournalPlan plan;
    private final Journal journal;
    private final JournalOracle oracle;
    private long number;

    Appender(JournalPlan plan, Journal journal, JournalOracle oracle, int thread) {
      this.plan = plan;
      this.journal = journal;
      this.oracle = oracle;
      this.thread = thread;
    }

    @Override
    public void run() {
      int burst = plan.burst(thread, number);
      for (long end = rounds; end > 0; end--) {
        append();
        if (--burst == 0) {
          burst = plan.burst(thread, number);
          // So that the disk keeps up, and there is not always somebody who waits for room.
          LockSupport.parkNanos(burst * REST_NANOS);
        }
      }
    }

    private void append() {
      try {
        oracle.start(thread, number);
        long sequence = plan.append(journal, thread, number);
        oracle.returned(thread, number, sequence);
        oracle.durable(thread, journal.durableSequence());
      } catch (java.io.UncheckedIOException e) {
        oracle.fail(thread); // staged under a number, not durable
        oracle.returned(thread, number, 0);
        LockSupport.parkNanos(FAILED_NANOS);
      } catch (RuntimeException | Error e) {
        oracle.fail(thread);
        e.printStackTrace();
        throw e;
      }
      number++;
    }
  }
}
