package cairn.otel;

import cairn.Level;
import cairn.Recorder;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.logs.LogRecordProcessor;
import io.opentelemetry.sdk.logs.ReadWriteLogRecord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the log records of an OpenTelemetry SDK as breadcrumbs: severity, logger name, body, a list
 * of attributes, the exception, and the span they belong to.
 *
 * <p>Any thread. Allocates a map for a record that has one of the attributes, else nothing beside
 * what the SDK allocates when it is asked. Nothing is thrown into the application, but for an error
 * of the virtual machine. Survives process death once the log call has returned. Does not export,
 * and does not close the recorder.
 */
public final class CairnLogRecordProcessor implements LogRecordProcessor {
  private static final AttributeKey<String> EXCEPTION_TYPE =
      AttributeKey.stringKey("exception.type");
  private static final AttributeKey<String> EXCEPTION_MESSAGE =
      AttributeKey.stringKey("exception.message");
  private static final AttributeKey<String> EXCEPTION_STACKTRACE =
      AttributeKey.stringKey("exception.stacktrace");

  private static final int MAX_MESSAGE_CHARS = 1_000;
  private static final int MAX_STACKTRACE_CHARS = 4_000;

  private final Supplier<Recorder> opening;
  private volatile @Nullable Recorder recorder;
  private final ListedKeys keys;
  private final Faults faults = new Faults();

  /**
   * Makes one whose recorder is asked for at the first log record.
   *
   * @param opening may be called by several threads at once, and again within itself
   */
  CairnLogRecordProcessor(Supplier<Recorder> opening, ListedKeys keys) {
    this.opening = opening;
    this.keys = keys;
  }

  private CairnLogRecordProcessor(Recorder recorder, ListedKeys keys) {
    this(() -> recorder, keys);
    this.recorder = recorder;
  }

  /**
   * Makes a processor with the defaults of {@link #builder}.
   *
   * @param recorder an open one; with one that is disabled the processor does nothing
   * @return the processor
   */
  public static CairnLogRecordProcessor create(Recorder recorder) {
    return builder(recorder).build();
  }

  /**
   * Starts to configure a processor.
   *
   * @param recorder as for {@link #create}
   * @return a builder with the defaults that its methods name
   */
  public static Builder builder(Recorder recorder) {
    return new Builder(recorder);
  }

  @Override
  public void onEmit(Context context, ReadWriteLogRecord logRecord) {
    try {
      Recorder open = recorder;
      if (open == null) {
        open = opening.get();
        if (open.isEnabled()) {
          recorder = open;
        }
      }
      if (open.isEnabled()) {
        record(logRecord, open);
      }
    } catch (Throwable e) {
      faults.unrecorded("onEmit", e);
    }
  }

  private void record(ReadWriteLogRecord logRecord, Recorder open) {
    String event = logRecord.getEventName();
    Value<?> body = logRecord.getBodyValue();
    String message = body == null ? event : body.asString();
    open.openSpans()
        .breadcrumb(
            level(logRecord.getSeverity()),
            logRecord.getInstrumentationScopeInfo().getName(),
            message,
            data(logRecord, event),
            HexIds.spanId(logRecord.getSpanContext()));
  }

  private @Nullable Map<String, Object> data(ReadWriteLogRecord logRecord, @Nullable String event) {
    Map<String, Object> data = null;
    if (event != null) {
      data = put(data, "event.name", event);
    }
    for (int key = 0; key < keys.count(); key++) {
      Object value = keys.value(logRecord, key);
      if (value != null) {
        data = put(data, keys.name(key), value);
      }
    }
    data = putCut(data, logRecord, EXCEPTION_TYPE, MAX_MESSAGE_CHARS);
    data = putCut(data, logRecord, EXCEPTION_MESSAGE, MAX_MESSAGE_CHARS);
    return putCut(data, logRecord, EXCEPTION_STACKTRACE, MAX_STACKTRACE_CHARS);
  }

  private static @Nullable Map<String, Object> putCut(
      @Nullable Map<String, Object> data,
      ReadWriteLogRecord logRecord,
      AttributeKey<String> key,
      int maxChars) {
    Object value = logRecord.getAttribute(key);
    if (!(value instanceof String text)) {
      return data;
    }
    return put(data, key.getKey(), cut(text, maxChars));
  }

  private static String cut(String text, int maxChars) {
    if (text.length() <= maxChars) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
    return text.substring(0, end) + "…";
  }

  private static Map<String, Object> put(
      @Nullable Map<String, Object> data, String name, Object value) {
    Map<String, Object> map = data == null ? new LinkedHashMap<>() : data;
    map.put(name, value);
    return map;
  }

  /** The severity numbers of the log data model come in fours. */
  private static Level level(@Nullable Severity severity) {
    int number = severity == null ? 0 : severity.getSeverityNumber();
    if (number == 0) {
      return Level.INFO;
    }
    if (number < Severity.INFO.getSeverityNumber()) {
      return Level.DEBUG;
    }
    if (number < Severity.WARN.getSeverityNumber()) {
      return Level.INFO;
    }
    if (number < Severity.ERROR.getSeverityNumber()) {
      return Level.WARNING;
    }
    return number < Severity.FATAL.getSeverityNumber() ? Level.ERROR : Level.FATAL;
  }

  /** {@return how many log records could not be recorded} */
  public long faults() {
    return faults.count();
  }

  /**
   * As {@link CairnSpanProcessor#forceFlush}.
   *
   * @return how that went
   */
  @Override
  public CompletableResultCode forceFlush() {
    Recorder open = recorder;
    return open == null ? CompletableResultCode.ofSuccess() : Forces.await(open);
  }

  /**
   * As {@link #forceFlush}; the recorder stays open.
   *
   * @return how that went
   */
  @Override
  public CompletableResultCode shutdown() {
    return forceFlush();
  }

  @Override
  public String toString() {
    return "CairnLogRecordProcessor{attributes=" + keys + ", recorder=" + recorder + '}';
  }

  /** Configures a processor. A mistake throws at once. One thread. */
  public static final class Builder {
    private final Recorder recorder;
    private ListedKeys keys = ListedKeys.defaults();

    private Builder(Recorder recorder) {
      this.recorder = Objects.requireNonNull(recorder, "recorder");
    }

    /**
     * Sets which attributes are recorded, beside those of the exception. Default and form as for
     * {@link CairnSpanProcessor.Builder#attributes}.
     *
     * @param names of attributes
     * @return this
     * @throws IllegalArgumentException for an unknown type
     */
    public Builder attributes(List<String> names) {
      this.keys = ListedKeys.of(names);
      return this;
    }

    Builder keys(ListedKeys keys) {
      this.keys = keys;
      return this;
    }

    /** {@return the processor} */
    public CairnLogRecordProcessor build() {
      return new CairnLogRecordProcessor(recorder, keys);
    }

    /** {@return the effective values} */
    @Override
    public String toString() {
      return "CairnLogRecordProcessor.Builder{attributes=" + keys + '}';
    }
  }
}
