package cairn.format;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Forms that the application has registered: what to encode in place of a value, by its type.
 *
 * <p>Immutable; any thread. Looking one up costs a few nanoseconds once a class is known.
 */
public final class Forms {
  /** No forms. */
  public static final Forms NONE = new Forms(Map.of());

  /** These are written before a form is looked for. */
  private static final Set<Class<?>> FIXED =
      Set.of(String.class, Long.class, Integer.class, Double.class, Boolean.class, Object.class);

  private final Map<Class<?>, Function<Object, @Nullable Object>> byType;
  private final ClassValue<Optional<Function<Object, @Nullable Object>>> found = new Found();

  private Forms(Map<Class<?>, Function<Object, @Nullable Object>> byType) {
    this.byType = byType;
  }

  /**
   * {@return these, and one for {@code type} and its subtypes}
   *
   * @throws IllegalArgumentException if the type has one, or can have no other than its own
   */
  public Forms with(Class<?> type, Function<Object, @Nullable Object> form) {
    if (type.isPrimitive() || FIXED.contains(type)) {
      throw new IllegalArgumentException(
          "type can have no form but its own: type=" + type.getName());
    }
    if (byType.containsKey(type)) {
      throw new IllegalArgumentException("type has a form already: type=" + type.getName());
    }
    Map<Class<?>, Function<Object, @Nullable Object>> all = new LinkedHashMap<>(byType);
    all.put(type, form);
    return new Forms(all);
  }

  /** {@return whether there are none} */
  public boolean isEmpty() {
    return byType.isEmpty();
  }

  /** {@return the form of a class: its own, else its superclasses', else that of an interface} */
  @Nullable Function<Object, @Nullable Object> of(Class<?> type) {
    return found.get(type).orElse(null);
  }

  private final class Found extends ClassValue<Optional<Function<Object, @Nullable Object>>> {
    @Override
    protected Optional<Function<Object, @Nullable Object>> computeValue(Class<?> type) {
      for (Class<?> c = type; c != null; c = c.getSuperclass()) {
        Function<Object, @Nullable Object> form = byType.get(c);
        if (form != null) {
          return Optional.of(form);
        }
      }
      for (Map.Entry<Class<?>, Function<Object, @Nullable Object>> e : byType.entrySet()) {
        if (e.getKey().isAssignableFrom(type)) {
          return Optional.of(e.getValue());
        }
      }
      return Optional.empty();
    }
  }
}
