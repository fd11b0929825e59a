package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.AttributeType;
import org.jspecify.annotations.Nullable;

/**
 * Keys by name and type, so that {@code setAttribute("name", value)} allocates none.
 *
 * <p>Any thread; wait-free. Of a fixed size: a name that meets another in its place takes it, which
 * costs an allocation at the next use of the other and nothing else.
 */
final class KeyCache {
  // Plain elements: a key's fields are final, so a reference that is read early shows a whole key,
  // and a store that is lost costs one allocation.
  private final @Nullable AttributeKey<?>[] keys;

  /**
   * @param size how many keys, a power of two; 0 caches none
   */
  KeyCache(int size) {
    keys = new AttributeKey<?>[size];
  }

  @Nullable AttributeKey<String> text(@Nullable String name) {
    return key(name, AttributeType.STRING);
  }

  @Nullable AttributeKey<Long> integer(@Nullable String name) {
    return key(name, AttributeType.LONG);
  }

  @Nullable AttributeKey<Double> floating(@Nullable String name) {
    return key(name, AttributeType.DOUBLE);
  }

  @Nullable AttributeKey<Boolean> bool(@Nullable String name) {
    return key(name, AttributeType.BOOLEAN);
  }

  /** {@return that key; null for a name that is no key} */
  // The type says what the key is of; its number is part of a hash.
  @SuppressWarnings({"unchecked", "EnumOrdinal"})
  private <T> @Nullable AttributeKey<T> key(@Nullable String name, AttributeType type) {
    if (name == null || name.isEmpty()) {
      return null;
    }
    if (keys.length == 0) {
      return (AttributeKey<T>) make(name, type);
    }
    int hash = name.hashCode();
    int index = (hash ^ hash >>> 15) * 31 + type.ordinal() & keys.length - 1;
    AttributeKey<?> cached = keys[index];
    if (cached != null && cached.getType() == type && cached.getKey().equals(name)) {
      return (AttributeKey<T>) cached;
    }
    AttributeKey<?> made = make(name, type);
    keys[index] = made;
    return (AttributeKey<T>) made;
  }

  private static AttributeKey<?> make(String name, AttributeType type) {
    return switch (type) {
      case STRING -> AttributeKey.stringKey(name);
      case LONG -> AttributeKey.longKey(name);
      case DOUBLE -> AttributeKey.doubleKey(name);
      default -> AttributeKey.booleanKey(name);
    };
  }
}
