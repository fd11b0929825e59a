package cairn.stress;

import cairn.OpenSpan;
import cairn.Recorder;
import cairn.report.UnfinishedSpan;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The spans of one thread of a plan, and the model of what they leave open.
 *
 * <p>A thread has a few places; each step either begins the span of a place, sets an attribute of
 * it or ends it. A span's name says its thread and the step that began it.
 */
final class SpanLoad {
  static final int PLACES = 6;
  private static final int STREAM = 3;
  private static final int MAX_SETS = 4;
  private static final int MAX_CHARS = 20;
  private static final List<String> KEYS = List.of("text", "long", "double", "boolean");
  private static final long NONE = -1;

  private final Plan plan;
  private final int thread;
  private final OpenSpan[] spans = new OpenSpan[PLACES];
  private final Places recorded = new Places();

  SpanLoad(Plan plan, int thread) {
    this.plan = plan;
    this.thread = thread;
  }

  /** Makes the step of that number. */
  void record(Recorder recorder, long step) {
    int place = place(step);
    switch (recorded.apply(plan, thread, step)) {
      case BEGIN -> spans[place] = recorder.begin(name(thread, step));
      case SET -> {
        OpenSpan span = spans[place];
        int key = key(step);
        switch (key) {
          case 0 -> span.set(KEYS.get(0), (String) value(key, step));
          case 1 -> span.set(KEYS.get(1), (long) value(key, step));
          case 2 -> span.set(KEYS.get(2), (double) value(key, step));
          default -> span.set(KEYS.get(3), (boolean) value(key, step));
        }
      }
      case END -> spans[place].close();
    }
  }

  /** {@return the open spans after that many steps: name, then attributes} */
  Map<String, Map<String, Object>> after(long steps) {
    Places places = new Places();
    for (long step = 0; step < steps; step++) {
      places.apply(plan, thread, step);
    }
    Map<String, Map<String, Object>> open = new TreeMap<>();
    for (int place = 0; place < PLACES; place++) {
      if (places.beganAt[place] != NONE) {
        Map<String, Object> attributes = new TreeMap<>();
        for (int key = 0; key < KEYS.size(); key++) {
          long setAt = places.setAt[place][key];
          if (setAt != NONE) {
            attributes.put(KEYS.get(key), value(key, setAt));
          }
        }
        open.put(name(thread, places.beganAt[place]), attributes);
      }
    }
    return open;
  }

  /**
   * {@return whether the span of that name began and got this value within the first {@code steps}}
   */
  boolean everHeld(String name, String key, Object value, long steps) {
    Places places = new Places();
    for (long step = 0; step < steps; step++) {
      Step kind = places.apply(plan, thread, step);
      if (kind == Step.SET
          && KEYS.get(key(step)).equals(key)
          && value(key(step), step).equals(value)
          && name(thread, places.beganAt[place(step)]).equals(name)) {
        return true;
      }
    }
    return false;
  }

  /** {@return the number of the thread that began it, or -1 if no plan did} */
  static int thread(UnfinishedSpan span) {
    String name = span.name();
    int dash = name.indexOf('-');
    if (!name.startsWith("op w") || dash < 0) {
      return -1;
    }
    try {
      return Integer.parseInt(name.substring(4, dash));
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** {@return the step that began it} */
  static long beganAt(UnfinishedSpan span) {
    try {
      return Long.parseLong(span.name().substring(span.name().indexOf('-') + 1));
    } catch (NumberFormatException e) {
      return NONE;
    }
  }

  private static String name(int thread, long step) {
    return "op " + Victim.threadName(thread) + "-" + step;
  }

  private int place(long step) {
    return Places.place(plan.bits(thread, STREAM, step));
  }

  private int key(long step) {
    return Places.key(plan.bits(thread, STREAM, step));
  }

  private Object value(int key, long step) {
    return switch (key) {
      case 0 -> step + "/" + Texts.of(plan.bits(thread, STREAM + 8, step), MAX_CHARS);
      case 1 -> step;
      case 2 -> step + 0.5;
      default -> (step & 1) == 0;
    };
  }

  private enum Step {
    BEGIN,
    SET,
    END
  }

  /** Which span is open at which place, and which steps set its attributes. */
  private static final class Places {
    final long[] beganAt = new long[PLACES];
    final long[][] setAt = new long[PLACES][KEYS.size()];
    private final int[] sets = new int[PLACES];

    Places() {
      Arrays.fill(beganAt, NONE);
    }

    static int place(long bits) {
      return (int) ((bits & 0xffff) % PLACES);
    }

    static int key(long bits) {
      return (int) (bits >>> 16 & 3);
    }

    Step apply(Plan plan, int thread, long step) {
      long bits = plan.bits(thread, STREAM, step);
      int place = place(bits);
      if (beganAt[place] == NONE) {
        beganAt[place] = step;
        sets[place] = 0;
        Arrays.fill(setAt[place], NONE);
        return Step.BEGIN;
      }
      if (sets[place] < MAX_SETS && (bits >>> 18 & 3) != 0) {
        sets[place]++;
        setAt[place][key(bits)] = step;
        return Step.SET;
      }
      beganAt[place] = NONE;
      return Step.END;
    }
  }
}
