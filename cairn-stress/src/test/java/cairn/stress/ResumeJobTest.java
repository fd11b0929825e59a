package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The job of the tutorial does what the tutorial says. */
@Tag("slow")
class ResumeJobTest {
  /** Kills asked for; without that, as many as the time allows, and no more than that. */
  private static final int ASKED = Integer.getInteger("cairn.stress.resumeKills", 0);

  private static final int KILLS = 30;
  private static final int LEAST = 5;
  private static final int SECONDS = 20;
  private static final int STEPS = 400;
  private static final int MAX_MILLIS = 60;
  private static final Path SOURCE = Path.of("src/main/java/cairn/stress/ResumeJob.java");
  private static final Path TUTORIAL = Path.of("../docs/TUTORIAL-RESUME.md");

  @TempDir Path directory;

  @Test
  @Timeout(1800)
  void killedAtRandomItDoesEveryStepAndAtMostTheOneInFlightTwice() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int kills = ASKED > 0 ? ASKED : KILLS;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ASKED > 0 ? 1500 : SECONDS);
    Launcher launcher =
        Launcher.fast(
                Files.createDirectory(directory.resolve("tools")),
                (rehearsing, home) -> finish(start(rehearsing, home)))
            .with("-XX:TieredStopAtLevel=1");
    int killed = 0;
    int repeated = 0;
    int jobs = 0;
    while (killed < kills && System.nanoTime() - end < 0) {
      Path home = Files.createDirectory(directory.resolve("job-" + jobs++));
      Set<Integer> killedAt = new TreeSet<>();
      boolean isDone = false;
      while (!isDone) {
        Child job = start(launcher, home);
        job.readLine(); // what was done before
        boolean kill = killed < kills;
        isDone = !kill || job.diesWithin(random.nextInt(MAX_MILLIS));
        if (!isDone) {
          job.kill();
          killed++;
          killedAt.add(steps(home).size());
        } else {
          finish(job);
        }
      }
      repeated += checked(home, killedAt, seed);
    }
    System.out.println(
        "resume kills="
            + killed
            + " jobs="
            + jobs
            + " steps="
            + (long) jobs * STEPS
            + " stepsDoneTwice="
            + repeated
            + " stepsLost=0 seed="
            + seed);
    assertThat(killed).isGreaterThanOrEqualTo(ASKED > 0 ? ASKED : LEAST);
  }

  @Test
  void theTutorialShowsTheFileThatIsCompiled() throws IOException {
    String tutorial = Files.readString(TUTORIAL);
    String begin = "```java\n";
    int from = tutorial.indexOf(begin) + begin.length();

    assertThat(tutorial.substring(from, tutorial.indexOf("```", from)))
        .isEqualTo(Files.readString(SOURCE));
  }

  /** Every step in its order; one comes a second time only where a kill hit it. */
  private static int checked(Path home, Set<Integer> killedAt, long seed) throws IOException {
    List<Long> steps = steps(home);
    int repeated = 0;
    long last = 0;
    for (int i = 0; i < steps.size(); i++) {
      boolean isAgain = steps.get(i) == last && killedAt.contains(i);
      if (!isAgain) {
        assertThat(steps.get(i)).as("line %d, seed=%d, home=%s", i, seed, home).isEqualTo(last + 1);
      }
      repeated += isAgain ? 1 : 0;
      last = steps.get(i);
    }
    assertThat(last).as("last step, seed=%d", seed).isEqualTo(STEPS);
    return repeated;
  }

  private static List<Long> steps(Path home) throws IOException {
    List<Long> steps = new ArrayList<>();
    Path output = home.resolve("output");
    for (String line : Files.exists(output) ? Files.readAllLines(output) : List.<String>of()) {
      steps.add(Long.parseLong(line.substring("step ".length())));
    }
    return steps;
  }

  private static Child start(Launcher launcher, Path home) throws IOException {
    return launcher.start(
        ResumeJob.class,
        home.resolve("log"),
        home.resolve("journal").toString(),
        Integer.toString(STEPS),
        home.resolve("output").toString());
  }

  private static void finish(Child job) throws IOException, InterruptedException {
    assertThat(job.awaitEnd()).as(job.log()).isZero();
  }
}
