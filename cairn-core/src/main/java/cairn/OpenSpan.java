package cairn;

import org.jspecify.annotations.Nullable;

/**
 * A begun, unfinished operation. Visible in the report of a run that dies before {@link #close}.
 *
 * <p>Any thread may set and close; lock-free. Setting or closing a span that is closed already does
 * nothing. Nothing here throws, but for an error of the virtual machine in a {@link
 * Redaction#rule}. No system call; no allocation in steady state, but 24 bytes for a span in a
 * {@code try} statement on HotSpot 17; about 40 ns an attribute. Survives process death once the
 * call returns. A close on one thread during a set on another takes effect when that set returns.
 */
public final class OpenSpan implements AutoCloseable {
  /*
   * Two fields, and methods of at most 35 bytecodes, which HotSpot inlines also where they have not
   * run yet (the close on the way out of an exception, say): then the JIT takes the object apart and
   * nothing is allocated. A span kept by mistake names a generation of its slot that is over.
   */
  private final @Nullable OpenRun run;
  private final long handle;

  OpenSpan(@Nullable OpenRun run, long handle) {
    this.run = run;
    this.handle = handle;
  }

  /**
   * Sets an attribute; the latest value of a key wins. A slot holds about 400 bytes of attributes,
   * and each call takes room, also for a key that is there already: some ten updates of a counter
   * fill it. What finds no room goes to the trail, counted in {@code attributesOverflowed}; nothing
   * is lost, but a counter set a thousand times a second pushes breadcrumbs out.
   *
   * @param key name; null does nothing
   * @param value cut at 256 bytes of UTF-8, counted; null does nothing
   * @return this
   */
  public OpenSpan set(@Nullable String key, @Nullable String value) {
    if (run != null) {
      run.setAttribute(handle, key, SpanTable.TEXT, 0, value);
    }
    return this;
  }

  /**
   * As {@link #set(String, String)}.
   *
   * @param key name; null does nothing
   * @param value any
   * @return this
   */
  public OpenSpan set(@Nullable String key, long value) {
    if (run != null) {
      run.setAttribute(handle, key, SpanTable.INTEGER, value, "");
    }
    return this;
  }

  /**
   * As {@link #set(String, String)}.
   *
   * @param key name; null does nothing
   * @param value any; not a number and infinities are shown as texts in JSON
   * @return this
   */
  public OpenSpan set(@Nullable String key, double value) {
    if (run != null) {
      run.setAttribute(handle, key, SpanTable.FLOATING, Double.doubleToRawLongBits(value), "");
    }
    return this;
  }

  /**
   * As {@link #set(String, String)}.
   *
   * @param key name; null does nothing
   * @param value either
   * @return this
   */
  public OpenSpan set(@Nullable String key, boolean value) {
    if (run != null) {
      run.setAttribute(handle, key, SpanTable.BOOLEAN, value ? 1 : 0, "");
    }
    return this;
  }

  /**
   * {@return the span id as 16 hex digits, as the report shows it; zeros if nothing is recorded}
   */
  public String spanId() {
    return hex(run == null || handle == SpanTable.NONE ? 0 : run.box.spans.spanId(handle));
  }

  private static String hex(long id) {
    char[] digits = new char[16];
    for (int i = 0; i < 16; i++) {
      digits[i] = Character.forDigit((int) (id >>> (60 - 4 * i)) & 15, 16);
    }
    return new String(digits);
  }

  /** Ends the span: one release store. A second call does nothing. */
  @Override
  public void close() {
    if (run != null) {
      run.closeSpan(handle);
    }
  }

  @Override
  public String toString() {
    return "OpenSpan{spanId=" + spanId() + '}';
  }
}
