package cairn.otel;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One call of a random sequence. Which object it is made on and with which arguments follows from
 * its numbers and from what there is by then, so a sequence stays one when steps are taken out of
 * it.
 *
 * @param call what to do
 * @param a chooses the object
 * @param b chooses an argument
 * @param c chooses another
 * @param elsewhere whether another thread makes the call
 */
record FuzzStep(Call call, int a, int b, int c, boolean elsewhere) {
  /** The calls there are, each as often as its weight says. */
  enum Call {
    TRACER(2),
    BUILDER(10),
    PARENT(4),
    NO_PARENT(1),
    BUILDER_LINK(3),
    KIND(2),
    START_TIME(2),
    BUILDER_ATTRIBUTE(8),
    BUILDER_ATTRIBUTES(1),
    START(12),
    ATTRIBUTE(14),
    ATTRIBUTES(2),
    EVENT(6),
    LINK(3),
    STATUS(6),
    NAME(3),
    EXCEPTION(3),
    END(9),
    READ(6),
    SNAPSHOT(4),
    WITH(3),
    CURRENT(5),
    CLOSE(4),
    CLOCK(5),
    CLOCK_JUMP(1),
    LIMITS(1),
    MUTATE(1),
    FLUSH(1),
    SHUTDOWN(1);

    final int weight;

    Call(int weight) {
      this.weight = weight;
    }
  }

  private static final Call[] DICE = dice();

  private static Call[] dice() {
    List<Call> faces = new ArrayList<>();
    for (Call call : Call.values()) {
      for (int i = 0; i < call.weight; i++) {
        faces.add(call);
      }
    }
    return faces.toArray(new Call[0]);
  }

  /** {@return the sequence of that seed} */
  static List<FuzzStep> sequence(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int length = 10 + random.nextInt(random.nextInt(8) == 0 ? 300 : 80);
    boolean isThreaded = random.nextInt(16) == 0;
    boolean mayShutDown = random.nextInt(8) == 0;
    List<FuzzStep> steps = new ArrayList<>();
    while (steps.size() < length) {
      Call call = DICE[random.nextInt(DICE.length)];
      if (call == Call.SHUTDOWN && !(mayShutDown && random.nextInt(4) == 0)) {
        continue;
      }
      steps.add(
          new FuzzStep(
              call,
              random.nextInt(1 << 30),
              random.nextInt(1 << 30),
              random.nextInt(1 << 30),
              isThreaded && random.nextInt(4) == 0));
    }
    return steps;
  }
}
