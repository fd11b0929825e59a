package cairn.stress;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of an {@link OtelVictim} do with spans: a pure function of the seed, the thread
 * and the number of the step, so that the checker needs no copy of what was recorded.
 *
 * <p>A thread has places; each step begins the span of a place, changes it or ends it. The name of
 * a span says its thread and the step that began it, and goes on saying so when it changes.
 *
 * @param seed of all choices
 * @param threads that record
 * @param pipeline who else sees the spans
 */
record OtelPlan(long seed, int threads, Pipeline pipeline) {
  /** What the spans go through besides the box. */
  enum Pipeline {
    /** Nothing: nobody but the box sees them. */
    ALONE,
    /** A sampler that drops every span: they are in the box alone. */
    DROPPED,
    /** A processor that takes snapshots when they start and when they end. */
    PROCESSED
  }

  /** What a step does. */
  enum Kind {
    BEGIN,
    ATTRIBUTE,
    RENAME,
    STATUS,
    EVENT,
    END
  }

  static final int PLACES = 40;

  /** More would not fit into a slot of the table. */
  private static final int MAX_CHANGES = 5;

  private static final List<String> KEYS = List.of("text", "long", "double", "boolean", "list");
  private static final List<String> KINDS =
      List.of("INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER");

  /** {@return the plan that {@link #toString} wrote} */
  static OtelPlan parse(String text) {
    String[] parts = text.split(":", -1);
    return new OtelPlan(
        Long.parseLong(parts[0]), Integer.parseInt(parts[1]), Pipeline.valueOf(parts[2]));
  }

  @Override
  public String toString() {
    return seed + ":" + threads + ":" + pipeline;
  }

  static String threadName(int thread) {
    return "w" + thread;
  }

  /** An open span as it must be. */
  static final class Mark {
    final long begunAt;
    final long parentBegunAt;
    final String kind;
    String name;
    final Map<String, Object> attributes = new LinkedHashMap<>();
    @Nullable String status;
    @Nullable String description;
    int events;
    private int changes;

    private Mark(long begunAt, long parentBegunAt, String kind, String name) {
      this.begunAt = begunAt;
      this.parentBegunAt = parentBegunAt;
      this.kind = kind;
      this.name = name;
    }

    boolean isRoot() {
      return parentBegunAt < 0;
    }
  }

  /** The places of one thread as they are after some steps. */
  final class Walk {
    final @Nullable Mark[] places = new Mark[PLACES];
    private final int thread;
    private long step;

    /** Of the last step: its place and what it did; the changed attribute; the parent's place. */
    int place;

    @Nullable String key;
    int parentPlace;
    int attributesAtBegin;

    Walk(int thread) {
      this.thread = thread;
    }

    /** Makes the next step. */
    Kind next() {
      long bits = Plan.bits(seed ^ ((long) thread << 56), step);
      place = (int) ((bits & 0xffff) % PLACES);
      key = null;
      Kind kind = kind(bits);
      Mark mark = places[place];
      switch (kind) {
        case BEGIN -> begin(bits);
        case ATTRIBUTE -> put(mark, (int) (bits >>> 24 & 0xff) % KEYS.size());
        case RENAME -> mark.name = name(thread, mark.begunAt) + "-r" + step;
        case STATUS -> {
          boolean isOk = (bits >>> 32 & 7) == 0;
          if (!"OK".equals(mark.status)) {
            mark.status = isOk ? "OK" : "ERROR";
            mark.description = isOk ? null : "because " + step;
          }
        }
        case EVENT -> mark.events++;
        case END -> places[place] = null;
      }
      step++;
      return kind;
    }

    private Kind kind(long bits) {
      Mark mark = places[place];
      if (mark == null) {
        return Kind.BEGIN;
      }
      int choice = (int) (bits >>> 16 & 15);
      if (choice == 15) {
        return Kind.EVENT;
      }
      if (choice < 5 || mark.changes == MAX_CHANGES) {
        return Kind.END;
      }
      mark.changes++;
      return choice < 11 ? Kind.ATTRIBUTE : choice < 13 ? Kind.RENAME : Kind.STATUS;
    }

    private void begin(long bits) {
      parentPlace = (int) ((bits >>> 40 & 0xff) % PLACES);
      Mark parent = places[parentPlace];
      if (parent == null || (bits >>> 50 & 3) == 0) {
        parentPlace = -1;
      }
      Mark mark =
          new Mark(
              step,
              parentPlace < 0 ? -1 : parent.begunAt,
              KINDS.get((int) (bits >>> 52 & 0xff) % KINDS.size()),
              name(thread, step));
      places[place] = mark;
      attributesAtBegin = (int) (bits >>> 36 & 3);
      for (int i = 0; i < attributesAtBegin; i++) {
        put(mark, i);
        mark.changes++;
      }
    }

    private void put(Mark mark, int number) {
      key = KEYS.get(number);
      mark.attributes.put(key, value(number));
    }

    private Object value(int number) {
      return switch (number) {
        case 0 -> "v" + step;
        case 1 -> step;
        case 2 -> step + 0.5;
        case 3 -> (step & 1) == 0;
        default -> List.of("x", "y" + step);
      };
    }

    /** {@return the marks by the step that began them, after so many steps} */
    Map<Long, Mark> after(long steps) {
      while (step < steps) {
        next();
      }
      Map<Long, Mark> open = new TreeMap<>();
      for (Mark mark : new ArrayList<>(java.util.Arrays.asList(places))) {
        if (mark != null) {
          open.put(mark.begunAt, mark);
        }
      }
      return open;
    }
  }

  static String name(int thread, long step) {
    return threadName(thread) + "-" + step;
  }

  /** {@return the thread that a name says} -1 if it says none. */
  static int threadOf(String name) {
    String[] parts = name.split("-", -1);
    return name.matches("w\\d+-\\d+(-r\\d+)?") ? Integer.parseInt(parts[0].substring(1)) : -1;
  }

  /** {@return the step that a name says; only for one that says a thread} */
  static long begunAt(String name) {
    return Long.parseLong(name.split("-", -1)[1]);
  }
}
