package cairn.bench;

import java.nio.file.Path;
import java.util.List;

/**
 * What {@link HeapSweep} is going to do.
 *
 * @param heaps sizes of the shop's heap in MiB
 * @param arms what the shop is run with, the base first
 * @param rounds how often each arm is loaded at each heap
 * @param starts how many fresh processes share those rounds
 * @param seconds of one measured load
 * @param warmUpAnswers of a process before its first round
 * @param clients how many requests wait for their answers at any time
 * @param out where the results are kept
 */
record HeapPlan(
    List<Integer> heaps,
    List<HeapArm> arms,
    int rounds,
    int starts,
    int seconds,
    long warmUpAnswers,
    int clients,
    Path out) {
  private static final List<Integer> HEAPS = List.of(48, 64, 80, 96, 128, 256);

  /** Of the warm-up, on two cores. */
  private static final double SECONDS_TO_COMPILE = 20;

  private static final double ANSWERS_PER_SECOND = 4_000;

  /** What it takes until all shops of one start answer, side by side on two cores. */
  private static final int START_SECONDS = 30;

  HeapPlan {
    if (rounds < 2 || starts < 1 || starts > rounds || seconds < 1 || clients < 1) {
      throw new IllegalArgumentException(
          "plan makes no sense: rounds="
              + rounds
              + " (at least 2), starts="
              + starts
              + " (1 to rounds), seconds="
              + seconds
              + ", clients="
              + clients);
    }
    if (!arms.contains(HeapArm.NONE)) {
      throw new IllegalArgumentException("nothing to compare with: arms=" + arms + ", need=none");
    }
  }

  /** {@return the plan that options of the command line ask for; takes them out of {@code args}} */
  static HeapPlan of(List<String> args, boolean quick, String rounds, List<String> arms, Path out) {
    return new HeapPlan(
        numbers(Bench.option(args, "--heaps", ""), quick ? List.of(64, 128) : HEAPS),
        arms.isEmpty() ? HeapArm.usual() : arms.stream().map(HeapArm::of).toList(),
        Integer.parseInt(rounds.isEmpty() ? (quick ? "2" : "10") : rounds),
        Integer.parseInt(Bench.option(args, "--starts", "1")),
        Integer.parseInt(Bench.option(args, "--seconds", quick ? "1" : "2")),
        Long.parseLong(Bench.option(args, "--warmup", quick ? "2000" : "40000")),
        Integer.parseInt(Bench.option(args, "--clients", "8")),
        out);
  }

  private static List<Integer> numbers(String option, List<Integer> otherwise) {
    return option.isEmpty()
        ? otherwise
        : Bench.list(option).stream().map(Integer::valueOf).toList();
  }

  /** {@return what has to be the same for results to be put together} */
  String settings() {
    return "seconds="
        + seconds
        + " warmup="
        + warmUpAnswers
        + " clients="
        + clients
        + " rounds-per-start="
        + roundsOfAStart()
        + " jdk="
        + System.getProperty("java.vm.version");
  }

  int roundsOfAStart() {
    return (rounds + starts - 1) / starts;
  }

  /** {@return about how long it takes when that many rounds are done already} */
  long estimatedSeconds(int roundsDone) {
    double warmUp = arms.size() * (SECONDS_TO_COMPILE + warmUpAnswers / ANSWERS_PER_SECOND);
    double settling = HeapSweep.SETTLE_MILLIS / 1000.0;
    int roundsLeft = heaps.size() * rounds - roundsDone;
    double startsLeft = (double) roundsLeft / roundsOfAStart();
    return Math.round(
        startsLeft * (START_SECONDS + warmUp)
            + roundsLeft * arms.size() * (seconds + settling + 0.1));
  }

  @Override
  public String toString() {
    return heaps.size()
        + " heaps of "
        + heaps
        + " MiB, "
        + arms.size()
        + " arms, "
        + rounds
        + " rounds of "
        + seconds
        + " s in "
        + starts
        + " starts, "
        + warmUpAnswers
        + " answers of warm-up, "
        + clients
        + " clients";
  }
}
