package cairn.stress;

import cairn.Level;
import cairn.Scope;
import cairn.report.ScopeSnapshot;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The scope updates of one thread of a plan, and the model of what they leave behind.
 *
 * <p>Every thread has a tag, another tag, a context and an extra of its own; thread 0 has those
 * fields too that exist once.
 */
final class ScopeLoad {
  private static final List<Level> LEVELS = List.of(Level.values());
  private static final int STREAM = 2;
  private static final int OWN_FIELDS = 4;
  private static final int ALL_FIELDS = 9;
  private static final int CLEAR = ALL_FIELDS;
  private static final long REMOVED = -1;
  private static final int MAX_CHARS = 60;

  private final Plan plan;
  private final int thread;
  private final int fields;

  ScopeLoad(Plan plan, int thread) {
    this.plan = plan;
    this.thread = thread;
    this.fields = thread == 0 ? ALL_FIELDS : OWN_FIELDS;
  }

  /** {@return whether thread {@code t} writes the scope at all} */
  static boolean isActive(Plan plan, int t) {
    return t == 0 || plan.scenario() != Scenario.CLEARING;
  }

  /** Makes the update of that number. */
  void record(Scope scope, long step) {
    int field = field(step);
    boolean removes = removes(step);
    String text = removes ? null : text(field, step);
    switch (field) {
      case 0, 1 -> scope.tag(key(field), text);
      case 2 -> scope.context(key(field), removes ? null : structured(field, step));
      case 3 -> scope.extra(key(field), removes ? null : (Object) step);
      case 4 -> scope.user(removes ? null : Map.of("id", text, "step", step));
      case 5 -> scope.level(removes ? null : level(step));
      case 6 -> scope.transaction(text);
      case 7 -> scope.fingerprint(removes ? null : List.of("{{ default }}", text));
      case 8 -> scope.trace(removes ? null : hex(step, 32), removes ? null : hex(step, 16));
      default -> scope.clear();
    }
  }

  /** {@return what this thread's fields hold after that many updates, by field name} */
  Map<String, Object> after(long steps) {
    long[] lastStep = new long[ALL_FIELDS];
    Arrays.fill(lastStep, REMOVED);
    for (long step = 0; step < steps; step++) {
      int field = field(step);
      if (field == CLEAR) {
        Arrays.fill(lastStep, REMOVED);
      } else {
        lastStep[field] = removes(step) ? REMOVED : step;
      }
    }
    Map<String, Object> state = new TreeMap<>();
    for (int field = 0; field < fields; field++) {
      if (lastStep[field] != REMOVED) {
        state.put(name(field), value(field, lastStep[field]));
      }
    }
    return state;
  }

  /** {@return what the report shows of this thread's fields, by field name} */
  Map<String, Object> seen(ScopeSnapshot scope) {
    Map<String, Object> seen = new TreeMap<>();
    for (Map.Entry<String, Object> entry : flatten(scope).entrySet()) {
      boolean isOwn = entry.getKey().endsWith("." + Victim.threadName(thread));
      boolean existsOnce = entry.getKey().indexOf(' ') < 0;
      if (isOwn || (thread == 0 && existsOnce)) {
        seen.put(entry.getKey(), entry.getValue());
      }
    }
    return seen;
  }

  /** {@return every field of the scope by a name that tells kind and key} */
  static Map<String, Object> flatten(ScopeSnapshot scope) {
    Map<String, Object> all = new TreeMap<>();
    scope.tags().forEach((key, value) -> all.put("tag " + key, value));
    scope.contexts().forEach((key, value) -> all.put("context " + key, value));
    scope.extras().forEach((key, value) -> all.put("extra " + key, value));
    if (!scope.user().isEmpty()) {
      all.put("user", scope.user());
    }
    if (scope.level() != null) {
      all.put("level", scope.level());
    }
    if (scope.transaction() != null) {
      all.put("transaction", scope.transaction());
    }
    if (!scope.fingerprint().isEmpty()) {
      all.put("fingerprint", scope.fingerprint());
    }
    if (!scope.trace().isEmpty()) {
      all.put("trace", scope.trace());
    }
    return all;
  }

  /**
   * {@return whether an update among the first {@code steps} gave the field this value}
   *
   * @param name as {@link #flatten} says
   */
  boolean everHeld(String name, Object value, long steps) {
    for (long step = 0; step < steps; step++) {
      int field = field(step);
      if (field != CLEAR
          && !removes(step)
          && name(field).equals(name)
          && value(field, step).equals(value)) {
        return true;
      }
    }
    return false;
  }

  /** {@return the thread number in a name of {@link #flatten}; 0 for a field that exists once} */
  static int owner(String name) {
    int mark = name.lastIndexOf(".w");
    return mark < 0 ? 0 : Integer.parseInt(name.substring(mark + 2));
  }

  private int field(long step) {
    long bits = plan.bits(thread, STREAM, step);
    if (plan.scenario() == Scenario.CLEARING && (bits >>> 20 & 31) == 0) {
      return CLEAR;
    }
    return (int) ((bits >>> 32 & 0xffff) % fields);
  }

  private boolean removes(long step) {
    return (plan.bits(thread, STREAM, step) >>> 25 & 7) == 0;
  }

  private String key(int field) {
    return (field == 1 ? "b." : "a.") + Victim.threadName(thread);
  }

  private String name(int field) {
    return switch (field) {
      case 0, 1 -> "tag " + key(field);
      case 2 -> "context " + key(field);
      case 3 -> "extra " + key(field);
      case 4 -> "user";
      case 5 -> "level";
      case 6 -> "transaction";
      case 7 -> "fingerprint";
      default -> "trace";
    };
  }

  private Object value(int field, long step) {
    return switch (field) {
      case 0, 1, 6 -> text(field, step);
      case 2 -> structured(field, step);
      case 3 -> step;
      case 4 -> Map.of("id", text(field, step), "step", step);
      case 5 -> level(step);
      case 7 -> List.of("{{ default }}", text(field, step));
      default -> trace(step);
    };
  }

  private String text(int field, long step) {
    return step + "/" + Texts.of(plan.bits(thread, STREAM + 8 + field, step), MAX_CHARS);
  }

  private Map<String, Object> structured(int field, long step) {
    return Map.of("step", step, "list", List.of(step, text(field, step)), "half", step / 2.0);
  }

  private static Level level(long step) {
    return LEVELS.get((int) (step % LEVELS.size()));
  }

  private static String hex(long step, int digits) {
    String hex = Long.toHexString(step + 1);
    return "0".repeat(digits - hex.length()) + hex;
  }

  private static Map<String, Object> trace(long step) {
    return Map.of("traceId", hex(step, 32), "spanId", hex(step, 16));
  }
}
