package cairn;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is true of the whole run: user, tags, contexts, extras. The latest value of a field wins.
 *
 * <p>Any thread. A value is encoded at the call, so a later change of it never shows. A null value
 * removes the field. Nothing here throws. No system call and no allocation in steady state.
 * Survives process death once the call returns.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class Scope {
  Scope() {}

  /** Sets the user to one with that id. */
  public Scope user(@Nullable String id) {
    return this;
  }

  /** Sets the fields of the user, such as {@code id}, {@code email}, {@code username}. */
  public Scope user(@Nullable Map<String, ?> fields) {
    return this;
  }

  /** Sets a tag: a short text to search by. */
  public Scope tag(String key, @Nullable String value) {
    return this;
  }

  /** Sets a context: a structured value of any kind. */
  public Scope context(String key, @Nullable Object value) {
    return this;
  }

  /** Sets an extra: any other value. */
  public Scope extra(String key, @Nullable Object value) {
    return this;
  }

  /** Sets the level. */
  public Scope level(@Nullable Level level) {
    return this;
  }

  /** Sets the transaction name. */
  public Scope transaction(@Nullable String name) {
    return this;
  }

  /** Sets the fingerprint: what makes two deaths the same. */
  public Scope fingerprint(@Nullable List<String> parts) {
    return this;
  }

  /** Sets the trace that the run belongs to. */
  public Scope trace(@Nullable String traceId, @Nullable String spanId) {
    return this;
  }

  /** Removes every field. */
  public Scope clear() {
    return this;
  }
}
