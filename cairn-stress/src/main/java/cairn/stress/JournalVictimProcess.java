package cairn.stress;

import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A running {@link JournalVictim}, seen from the process that started it. One thread.
 *
 * @param plan it follows
 * @param oracle how far it came
 * @param child the process
 * @param answer what it printed first: {@code open} and the mode, or {@code refused} and why
 */
record JournalVictimProcess(JournalPlan plan, JournalOracle oracle, Child child, String answer)
    implements AutoCloseable {
  /**
   * Starts one and waits until its journal is open or refused.
   *
   * @param home gets the oracle and what the victim writes to its standard error
   */
  static JournalVictimProcess start(Launcher launcher, JournalPlan plan, Path journal, Path home)
      throws IOException {
    Path file = home.resolve("oracle-" + System.nanoTime());
    JournalOracle oracle = JournalOracle.create(file, plan.threads());
    Child child =
        launcher.start(
            JournalVictim.class,
            home.resolve(file.getFileName() + ".log"),
            plan.toString(),
            journal.toString(),
            file.toString());
    try {
      return new JournalVictimProcess(plan, oracle, child, child.readLine());
    } catch (IOException e) {
      child.kill();
      throw e;
    }
  }

  boolean isOpen() {
    return answer.startsWith("open ");
  }

  /** Lets it append without end, and waits until one append has returned. */
  void appendForever() throws IOException, InterruptedException {
    if (!isOpen()) {
      throw new IOException("journal is not open: answer=" + answer);
    }
    child.send("forever");
    while (oracle.returned(0) == 0) {
      child.liveOn(1);
    }
  }

  /** {@return how many appends threw, since they could not be forced} */
  long failures() {
    long sum = 0;
    for (int t = 0; t < plan.threads(); t++) {
      sum += oracle.failures(t);
    }
    return sum;
  }

  @Override
  public void close() {
    child.kill();
  }
}
