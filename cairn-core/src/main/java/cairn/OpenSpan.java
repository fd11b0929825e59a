package cairn;

/**
 * A begun, unfinished operation. Visible in the report of a run that dies before {@link #close}.
 *
 * <p>Any thread may set and close. Setting or closing a span that is closed already does nothing.
 * Nothing here throws. No system call, lock or allocation in steady state. Survives process death
 * once the call returns.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class OpenSpan implements AutoCloseable {
  OpenSpan() {}

  /**
   * Sets an attribute; the latest value of a key wins.
   *
   * @param key name; null does nothing
   * @param value cut at 256 bytes of UTF-8, counted; null does nothing
   * @return this
   */
  public OpenSpan set(String key, String value) {
    return this;
  }

  /** As {@link #set(String, String)}. */
  public OpenSpan set(String key, long value) {
    return this;
  }

  /** As {@link #set(String, String)}. */
  public OpenSpan set(String key, double value) {
    return this;
  }

  /** As {@link #set(String, String)}. */
  public OpenSpan set(String key, boolean value) {
    return this;
  }

  /** {@return the span id as 16 hex digits; 0s for a disabled recorder} */
  public String spanId() {
    return "";
  }

  /** Ends the span: one release store. A second call does nothing. */
  @Override
  public void close() {}
}
