package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Attributes that nothing changes any more, in the order in which they were first set. */
final class FrozenAttributes implements Attributes {
  private final @Nullable AttributeKey<?>[] keys;
  private final @Nullable Object[] values;
  private final int total;

  FrozenAttributes(@Nullable AttributeKey<?>[] keys, @Nullable Object[] values, int total) {
    this.keys = keys;
    this.values = values;
    this.total = total;
  }

  /** {@return how many names were put, each time one that is over the limit included} */
  int total() {
    return total;
  }

  /** {@return the same, as the API makes them: sorted by name} */
  Attributes sorted() {
    AttributesBuilder builder = Attributes.builder();
    forEach((key, value) -> Values.put(builder, key, value));
    return builder.build();
  }

  @Override
  @SuppressWarnings("unchecked") // of the key's type, or whatever was put under that type
  public <T> @Nullable T get(AttributeKey<T> key) {
    String name = key.getKey();
    for (int i = 0; i < keys.length; i++) {
      AttributeKey<?> known = keys[i];
      if (known == key || (known != null && known.getKey().equals(name))) {
        return known.getType() == key.getType() ? (T) values[i] : null;
      }
    }
    return null;
  }

  @Override
  public void forEach(BiConsumer<? super AttributeKey<?>, ? super Object> action) {
    for (int i = 0; i < keys.length; i++) {
      AttributeKey<?> key = keys[i];
      Object value = values[i];
      if (key != null && value != null) {
        action.accept(key, value);
      }
    }
  }

  @Override
  public int size() {
    return keys.length;
  }

  @Override
  public boolean isEmpty() {
    return keys.length == 0;
  }

  @Override
  public Map<AttributeKey<?>, Object> asMap() {
    Map<AttributeKey<?>, Object> map = new LinkedHashMap<>();
    forEach(map::put);
    return Collections.unmodifiableMap(map);
  }

  @Override
  public AttributesBuilder toBuilder() {
    return Attributes.builder().putAll(this);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other
        || (other instanceof Attributes attributes && asMap().equals(attributes.asMap()));
  }

  @Override
  public int hashCode() {
    return asMap().hashCode();
  }

  @Override
  public String toString() {
    return asMap().toString();
  }
}
