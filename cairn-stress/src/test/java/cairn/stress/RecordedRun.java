package cairn.stress;

import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * The box of a small run that was killed, as it was at the end and some time before.
 *
 * @param plan what was recorded
 * @param oracle how far it came
 * @param older bytes of the box some time before the end
 * @param box bytes of the box
 */
record RecordedRun(Plan plan, Oracle oracle, byte[] older, byte[] box) {
  private static final int VITALS_SAMPLES = 2;
  private static final int MAX_POLLS = 6_000;

  /** Records on two threads into a ring of 64 KiB, a lap and a half, and is killed. */
  static RecordedRun record(long seed, Path directory) throws Exception {
    Plan plan = new Plan(seed, 2, 64 << 10, 16, Scenario.MIXED);
    Path root = directory.resolve("root");
    try (VictimProcess victim =
        VictimProcess.Launcher.plain("-Xmx64m", "-XX:+UseSerialGC").start(plan, root, directory)) {
      victim.record(400);
      Run run = Runs.under(root).list().get(0);
      byte[] older = Files.readAllBytes(run.directory().resolve("box"));
      victim.record(200);
      for (int i = 0; run.report().vitals().size() < VITALS_SAMPLES && i < MAX_POLLS; i++) {
        LockSupport.parkNanos(1_000_000);
      }
      victim.kill();
      byte[] box = Files.readAllBytes(run.directory().resolve("box"));
      return new RecordedRun(plan, victim.oracle(), older, box);
    }
  }

  /** {@return what a copy's report would be compared with} */
  DamageCost costs(Report sound) {
    return new DamageCost(plan, oracle, sound);
  }
}
