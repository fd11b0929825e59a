package cairn.otel;

import cairn.Recorder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What properties or a file say about the recorder and the processors. Null stands for the default.
 *
 * @param app name of the application
 * @param directory root directory
 * @param release of the application
 * @param environment such as {@code prod}
 * @param keys of the attributes that are recorded
 * @param refresh as for {@link CairnSpanProcessor.Builder#refresh}
 * @param threads as for {@link CairnSpanProcessor.Builder#threads}
 */
record ProcessorSettings(
    String app,
    @Nullable String directory,
    @Nullable String release,
    @Nullable String environment,
    ListedKeys keys,
    @Nullable Duration refresh,
    @Nullable Boolean threads) {
  /** Of a recorder's builder. */
  private static final int MAX_APP_LENGTH = 100;

  private static final ReentrantLock OPENING = new ReentrantLock();

  /**
   * {@return the recorder that is open in this class loader already, else one with these settings}
   * Disabled if it cannot be opened; never throws.
   */
  Recorder recorder() {
    // A lock: the processors of one SDK share the recorder that the first of them opened.
    OPENING.lock();
    try {
      Recorder open = Recorder.global();
      // What opening one logs may come back as a log record.
      return open.isEnabled() || OPENING.getHoldCount() > 1 ? open : open();
    } finally {
      OPENING.unlock();
    }
  }

  private Recorder open() {
    Recorder.Builder builder =
        Recorder.builder(
            app.length() <= MAX_APP_LENGTH ? app : app.substring(0, MAX_APP_LENGTH).strip());
    if (directory != null) {
      builder.directory(Path.of(directory));
    }
    if (release != null) {
      builder.release(release);
    }
    if (environment != null) {
      builder.environment(environment);
    }
    if (isInAgent()) {
      builder.shared(); // the application's recorder is in a class loader that sees nothing of us
    }
    return builder.open();
  }

  /** A mistake in the list is said, and not followed: it must not cost the application its SDK. */
  static ListedKeys keys(@Nullable List<String> attributes) {
    if (attributes == null || attributes.isEmpty()) {
      return ListedKeys.defaults();
    }
    try {
      return ListedKeys.of(attributes);
    } catch (IllegalArgumentException e) {
      Faults.warn(e.getMessage() + "; recorded with the default list of attributes", e);
      return ListedKeys.defaults();
    }
  }

  CairnSpanProcessor spanProcessor() {
    CairnSpanProcessor.Builder builder =
        CairnSpanProcessor.builder(recorder()).keys(keys).threads(bindsThreads());
    if (refresh != null) {
      try {
        builder.refresh(refresh);
      } catch (IllegalArgumentException e) {
        Faults.warn(e.getMessage() + "; spans are looked at with the default interval", e);
      }
    }
    return builder.build();
  }

  CairnLogRecordProcessor logRecordProcessor() {
    return CairnLogRecordProcessor.builder(recorder()).keys(keys).build();
  }

  /** {@return one that opens a recorder at its first log record, if none is open then} */
  CairnLogRecordProcessor lateLogRecordProcessor() {
    return new CairnLogRecordProcessor(this::recorder, keys);
  }

  private boolean bindsThreads() {
    return threads == null ? isInAgent() : threads;
  }

  /**
   * {@return whether this is an extension of the OpenTelemetry Java agent} There the agent is
   * first, so no context was used yet, and the storage is the agent's to begin with.
   */
  private static boolean isInAgent() {
    ClassLoader loader = ProcessorSettings.class.getClassLoader();
    return loader != null && loader.getClass().getName().startsWith("io.opentelemetry.javaagent.");
  }
}
