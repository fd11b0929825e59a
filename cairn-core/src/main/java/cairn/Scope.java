package cairn;

import cairn.format.RecordLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is true of the whole run: user, tags, contexts, extras. The latest value of a field wins.
 *
 * <p>Any thread; one short lock, held for a copy and never across code of the application. A value
 * is encoded at the call, so a later change of it never shows. A null value removes the field; a
 * null key does nothing. Nothing here throws, but for an error of the virtual machine in code of a
 * value, once the field is set. No system call; no allocation for tags, level and transaction in
 * steady state. All fields together hold 32 KiB, one field 16 KiB, unless {@link
 * Recorder.Builder#scopeBytes} says otherwise; what exceeds that is refused, the old value stays,
 * and it is counted in {@code scopeDropped}. Survives process death once the call returns.
 */
public final class Scope {
  private final @Nullable OpenRun run;

  Scope(@Nullable OpenRun run) {
    this.run = run;
  }

  private Scope set(int kind, @Nullable String key, @Nullable Object value) {
    if (run != null && run.enter()) {
      run.box.setScope(kind, key, value);
      run.leave();
    }
    return this;
  }

  private Scope setKeyed(int kind, @Nullable String key, @Nullable Object value) {
    return key == null ? this : set(kind, key, value);
  }

  /**
   * Sets the user to one with that id.
   *
   * @param id null: there is no user
   * @return this
   */
  public Scope user(@Nullable String id) {
    return set(RecordLayout.KIND_USER, null, id == null ? null : Map.of("id", id));
  }

  /**
   * Sets the fields of the user, such as {@code id}, {@code email}, {@code username}; fields of an
   * earlier user don't stay.
   *
   * @param fields null: there is no user
   * @return this
   */
  public Scope user(@Nullable Map<String, ?> fields) {
    return set(RecordLayout.KIND_USER, null, fields);
  }

  /**
   * Sets a tag: a short text to search by.
   *
   * @param key at most 128 bytes of UTF-8
   * @param value cut at 8 KiB
   * @return this
   */
  public Scope tag(@Nullable String key, @Nullable String value) {
    return setKeyed(RecordLayout.KIND_TAG, key, value);
  }

  /**
   * Sets a context: a structured value of any kind.
   *
   * @param key at most 128 bytes of UTF-8
   * @param value maps, collections, arrays, records, texts, numbers; of anything else its {@code
   *     toString}
   * @return this
   */
  public Scope context(@Nullable String key, @Nullable Object value) {
    return setKeyed(RecordLayout.KIND_CONTEXT, key, value);
  }

  /**
   * Sets an extra: any other value.
   *
   * @param key at most 128 bytes of UTF-8
   * @param value as for {@link #context}
   * @return this
   */
  public Scope extra(@Nullable String key, @Nullable Object value) {
    return setKeyed(RecordLayout.KIND_EXTRA, key, value);
  }

  /**
   * Sets the level.
   *
   * @param level null removes it
   * @return this
   */
  public Scope level(@Nullable Level level) {
    return set(RecordLayout.KIND_LEVEL, null, level == null ? null : level.name());
  }

  /**
   * Sets the transaction: what the application as a whole is about.
   *
   * @param name null removes it
   * @return this
   */
  public Scope transaction(@Nullable String name) {
    return set(RecordLayout.KIND_TRANSACTION, null, name);
  }

  /**
   * Sets the fingerprint: what makes two deaths the same.
   *
   * @param parts null removes it
   * @return this
   */
  public Scope fingerprint(@Nullable List<String> parts) {
    return set(RecordLayout.KIND_FINGERPRINT, null, parts);
  }

  /**
   * Sets the trace that the run belongs to.
   *
   * @param traceId 32 hex digits; null removes the trace
   * @param spanId 16 hex digits; null if there is none
   * @return this
   */
  public Scope trace(@Nullable String traceId, @Nullable String spanId) {
    if (traceId == null) {
      return set(RecordLayout.KIND_TRACE, null, null);
    }
    Map<String, String> trace = new LinkedHashMap<>();
    trace.put("traceId", traceId);
    if (spanId != null) {
      trace.put("spanId", spanId);
    }
    return set(RecordLayout.KIND_TRACE, null, trace);
  }

  /**
   * Removes every field and erases it: once this returns, no key and no value of the scope is in
   * the file. A field that is removed alone, or overwritten, is erased within a minute.
   *
   * @return this
   */
  public Scope clear() {
    if (run != null && run.enter()) {
      run.box.clearScope();
      run.leave();
    }
    return this;
  }
}
