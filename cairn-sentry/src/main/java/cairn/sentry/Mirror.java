package cairn.sentry;

import io.sentry.IScope;
import io.sentry.JsonSerializable;
import io.sentry.protocol.Contexts;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What was recorded last of a scope of Sentry's, so that only what has changed is recorded.
 *
 * <p>Any thread; never waits.
 */
abstract class Mirror {
  /*
   * An announcement is taken as a hint: what is recorded is what the scope says now, field by field,
   * if it is not what was recorded last. So an announcement that comes twice (setTag, setTags) is one
   * record, and one that never came is caught up at the next look.
   *
   * Whether a value is the same: texts and numbers by equality. A map or list that is the same object
   * may hold something else by now; its hash (ValueHash) says so. It is taken when the value is first
   * found again, and not when it is recorded, which most are but once: so a value that stays is
   * recorded twice. Of an object of an unknown class nothing can be told: it is recorded again whenever
   * it is announced, and not at other times.
   *
   * Two threads that change one field: the box may get them in one order and `Written` in the other.
   * No lock prevents it, since a value's own code runs while it is encoded. Instead, who records while
   * somebody else does marks what it recorded, and the last to leave records the marked ones again.
   */

  static final int USER = 0;
  static final int REQUEST = 1;
  static final int LEVEL = 2;
  static final int FINGERPRINT = 3;
  static final int TRANSACTION = 4;
  static final int ENVIRONMENT = 5;
  static final int REPLAY = 6;
  static final int TRACE = 7;
  static final int ATTRIBUTES = 8;
  static final int FLAGS = 9;
  static final int SINGLES = 10;

  static final int TAG = 10;
  static final int EXTRA = 11;
  static final int CONTEXT = 12;

  /** When a field is looked at. */
  enum Look {
    /** Its scope has just changed it, perhaps. */
    ANNOUNCED,
    /** Something else of the scope was announced. */
    PASSING,
    /** Nothing was: to find what changed in silence. */
    DEEP
  }

  private static final String TRACE_CONTEXT = "trace";
  private static final int MAX_REPAIRS = 2;

  /** What was recorded last of a field. */
  private static final class Written {
    volatile @Nullable Object value;
    volatile long hash;
    volatile boolean isRaced;
  }

  private static final Written NOTHING = new Written();

  private final AtomicReferenceArray<@Nullable Written> singles =
      new AtomicReferenceArray<>(SINGLES);
  private final ConcurrentHashMap<String, Written> tags = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Written> extras = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Written> contexts = new ConcurrentHashMap<>();
  private final AtomicInteger writers = new AtomicInteger();
  private volatile boolean isRaced;

  private Written single(int kind, boolean isNeeded) {
    Written written = singles.get(kind);
    if (written == null && isNeeded) {
      Written made = new Written();
      written = singles.compareAndSet(kind, null, made) ? made : singles.get(kind);
    }
    return written == null ? NOTHING : written;
  }

  // What the scopes say

  abstract int layers();

  /** {@return the scope of that layer, those that win first; null if it is gone} */
  abstract @Nullable IScope layer(int index);

  /** {@return the tags of that layer; its own map if it was ever seen} */
  abstract Map<String, String> tagsOf(int index);

  /** {@return the value of a single field; null if there is none} */
  abstract @Nullable Object single(int kind);

  /** {@return whether a field that this mirror never recorded needs no record} */
  boolean isKnown(int kind, @Nullable String key, Object value) {
    return false;
  }

  /** Records a field; null removes it. */
  abstract void record(int kind, @Nullable String key, @Nullable Object value);

  /** {@return what was recorded last of a tag, extra or context} */
  final @Nullable Object recorded(int kind, @Nullable String key) {
    Written written = key == null ? singles.get(kind) : keyed(kind).get(key);
    return written == null ? null : written.value;
  }

  private ConcurrentHashMap<String, Written> keyed(int kind) {
    return kind == TAG ? tags : kind == EXTRA ? extras : contexts;
  }

  // Looks

  final void lookAtAll(Look look) {
    enter();
    try {
      for (int kind = 0; kind < SINGLES; kind++) {
        lookAtSingle(kind, look);
      }
      tags(look);
      extras(look);
      contexts(look);
    } finally {
      leave();
    }
  }

  final void look(int kind, Look look) {
    enter();
    try {
      lookAtSingle(kind, look);
    } finally {
      leave();
    }
  }

  final void lookAtTag(@Nullable String key, Look look) {
    enter();
    try {
      if (key == null) {
        tags(look);
      } else {
        keyed(TAG, key, look);
      }
    } finally {
      leave();
    }
  }

  final void lookAtExtra(@Nullable String key, Look look) {
    enter();
    try {
      if (key == null) {
        extras(look);
      } else {
        keyed(EXTRA, key, look);
      }
    } finally {
      leave();
    }
  }

  final void lookAtContexts(Look look) {
    enter();
    try {
      contexts(look);
    } finally {
      leave();
    }
  }

  private void enter() {
    if (writers.getAndIncrement() != 0) {
      isRaced = true;
    }
  }

  private void leave() {
    for (int i = 0; writers.decrementAndGet() == 0 && isRaced && i < MAX_REPAIRS; i++) {
      if (writers.getAndIncrement() == 0) {
        isRaced = false;
      }
      repair();
    }
  }

  /** Records again what was recorded by two at once. */
  private void repair() {
    for (int kind = 0; kind < SINGLES; kind++) {
      Written written = single(kind, false);
      if (written.isRaced) {
        written.isRaced = false;
        write(kind, null, written, single(kind), Look.ANNOUNCED);
      }
    }
    for (int kind = TAG; kind <= CONTEXT; kind++) {
      for (Map.Entry<String, Written> entry : keyed(kind).entrySet()) {
        if (entry.getValue().isRaced) {
          entry.getValue().isRaced = false;
          String key = entry.getKey();
          write(kind, key, entry.getValue(), value(kind, key), Look.ANNOUNCED);
        }
      }
    }
  }

  private void lookAtSingle(int kind, Look look) {
    Object now = single(kind);
    Written written = single(kind, false);
    if (!isSame(written, now, look)
        && !(written.value == null && now != null && isKnown(kind, null, now))) {
      write(kind, null, single(kind, true), now, look);
    }
  }

  private void tags(Look look) {
    for (int i = 0; i < layers(); i++) {
      Map<String, String> layer = tagsOf(i);
      if (!layer.isEmpty()) {
        layer.keySet().forEach(key -> keyed(TAG, key, look));
      }
    }
    removed(TAG, look);
  }

  private void extras(Look look) {
    for (int i = 0; i < layers(); i++) {
      IScope layer = layer(i);
      if (layer != null && !layer.getExtras().isEmpty()) {
        layer.getExtras().keySet().forEach(key -> keyed(EXTRA, key, look));
      }
    }
    removed(EXTRA, look);
  }

  private void contexts(Look look) {
    for (int i = 0; i < layers(); i++) {
      IScope layer = layer(i);
      if (layer != null && !layer.getContexts().isEmpty()) {
        Enumeration<String> keys = layer.getContexts().keys();
        while (keys.hasMoreElements()) {
          keyed(CONTEXT, keys.nextElement(), look);
        }
      }
    }
    removed(CONTEXT, look);
  }

  private void removed(int kind, Look look) {
    ConcurrentHashMap<String, Written> known = keyed(kind);
    if (!known.isEmpty()) {
      known.forEach(
          (key, written) -> {
            if (written.value != null && value(kind, key) == null) {
              keyed(kind, key, look);
            }
          });
    }
  }

  private @Nullable Object value(int kind, String key) {
    for (int i = 0; i < layers(); i++) {
      IScope layer = layer(i);
      if (layer != null) {
        Object value =
            switch (kind) {
              case TAG -> tagsOf(i).get(key);
              case EXTRA -> layer.getExtras().get(key);
              default -> contextOf(layer.getContexts(), key);
            };
        if (value != null) {
          return value;
        }
      }
    }
    return null;
  }

  /** The trace has a field of its own, and what is Cairn's must not be overwritten. */
  private static @Nullable Object contextOf(Contexts contexts, String key) {
    return key.equals(TRACE_CONTEXT) || key.startsWith(ReportEvent.PREFIX)
        ? null
        : contexts.get(key);
  }

  private void keyed(int kind, String key, Look look) {
    Object now = value(kind, key);
    Written written = keyed(kind).get(key);
    if (written == null) {
      if (now == null || isKnown(kind, key, now)) {
        return;
      }
      written = keyed(kind).computeIfAbsent(key, k -> new Written());
    }
    if (!isSame(written, now, look)) {
      write(kind, key, written, now, look);
    }
  }

  private static boolean isSame(Written written, @Nullable Object now, Look look) {
    Object before = written.value;
    if (before != now) {
      return before != null && now != null && isComparable(now) && now.equals(before);
    }
    if (now == null || isComparable(now) || look == Look.PASSING) {
      return true;
    }
    if (now instanceof JsonSerializable own) {
      return hashOf(SentryForms.of(own)) == written.hash;
    }
    long hash = ValueHash.byIdentity(now);
    if (hash == ValueHash.UNKNOWN) {
      return look == Look.DEEP;
    }
    boolean isSame = hash == written.hash;
    written.hash = hash;
    return isSame;
  }

  private static boolean isFixed(Object value) {
    return value instanceof String
        || value instanceof Number
        || value instanceof Boolean
        || value instanceof Enum;
  }

  private static long hashOf(@Nullable Object form) {
    return form == null ? ValueHash.UNKNOWN : ValueHash.byContent(form);
  }

  private static boolean isComparable(Object value) {
    return value instanceof Copy || isFixed(value);
  }

  /** A value that was put together for the mirror alone: nobody changes it. */
  record Copy(Object value) {}

  private void write(
      int kind, @Nullable String key, Written written, @Nullable Object now, Look look) {
    Object form = now;
    if (now instanceof Copy copy) {
      form = copy.value();
    } else if (now instanceof JsonSerializable && !isFixed(now)) {
      form = SentryForms.of(now);
      written.hash = hashOf(form);
    } else if (now != null && !isFixed(now)) {
      if (written.value != now) {
        written.hash = ValueHash.UNKNOWN;
      }
      try {
        // A look in silence comes when the application may be changing it: what is half changed
        // must
        // not replace what was whole.
        form = look == Look.DEEP ? SentryForms.copy(now) : SentryForms.of(now);
      } catch (RuntimeException | StackOverflowError e) {
        if (look == Look.DEEP) {
          written.hash = ValueHash.UNKNOWN;
          return;
        }
      }
    }
    written.value = now;
    record(kind, key, form);
    if (isRaced) {
      written.isRaced = true;
    }
  }

  // Of single fields

  /** {@return the first that there is, of all layers} */
  final @Nullable Object firstOf(int kind) {
    for (int i = 0; i < layers(); i++) {
      IScope layer = layer(i);
      Object value = layer == null ? null : single(layer, kind);
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  private static @Nullable Object single(IScope layer, int kind) {
    return switch (kind) {
      case USER -> layer.getUser();
      case REQUEST -> layer.getRequest();
      case LEVEL -> layer.getLevel();
      case FINGERPRINT -> fingerprint(layer.getFingerprint());
      case TRANSACTION -> layer.getTransactionName();
      case ENVIRONMENT -> HasEnvironment.of(layer);
      default -> null;
    };
  }

  private static @Nullable Object fingerprint(@Nullable List<String> parts) {
    return parts == null || parts.isEmpty() ? null : new Copy(new ArrayList<>(parts));
  }

  /** Since sentry-java 8.5x a scope has one; calling it on an older one is an error. */
  private static final class HasEnvironment {
    private static final boolean PRESENT = isPresent();

    private static boolean isPresent() {
      try {
        return Objects.nonNull(IScope.class.getMethod("getEnvironment"));
      } catch (NoSuchMethodException e) {
        return false;
      }
    }

    static @Nullable String of(IScope scope) {
      return PRESENT ? scope.getEnvironment() : null;
    }
  }
}
