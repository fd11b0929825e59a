package cairn;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Stub of the recorder: names only. */
@SuppressWarnings("DoNotCallSuggester")
public final class Recorder implements AutoCloseable {
  Recorder() {}

  /** {@return a builder} */
  public static Builder builder(String app) {
    return new Builder();
  }

  /** {@return the last opened recorder, else a disabled one; never null} */
  public static Recorder global() {
    throw new AssertionError();
  }

  /** {@return the scope} */
  public Scope scope() {
    throw new AssertionError();
  }

  /** Adds a breadcrumb without data. */
  public void breadcrumb(Level level, @Nullable String category, @Nullable String message) {}

  /** Adds a breadcrumb. */
  public void breadcrumb(
      Level level,
      @Nullable String category,
      @Nullable String message,
      @Nullable Map<String, ?> data) {}

  /** Begins a span; its parent is the span open on this thread, if any. */
  public OpenSpan begin(String name) {
    throw new AssertionError();
  }

  /** {@return whether everything before this call is on disk; false under process durability} */
  public boolean awaitDurable(Duration timeout) {
    return false;
  }

  /** {@return the run's directory; null if disabled} */
  public @Nullable Path directory() {
    return null;
  }

  /** {@return the run id; null if disabled} */
  public @Nullable String runId() {
    return null;
  }

  /** {@return whether anything is recorded} */
  public boolean isEnabled() {
    return false;
  }

  /** {@return how records reach the file: mapped, copy or disabled, and why} */
  public String mode() {
    return "disabled";
  }

  /** Closes: marks the run as ended cleanly. */
  @Override
  public void close() {}

  /** Builder. */
  @SuppressWarnings("DoNotCallSuggester")
  public static final class Builder {
    Builder() {}

    /** Release. */
    public Builder release(String release) {
      return this;
    }

    /** Environment. */
    public Builder environment(String environment) {
      return this;
    }

    /** Root directory. */
    public Builder directory(Path root) {
      return this;
    }

    /** Durability; default {@link Durability#process()}. */
    public Builder durability(Durability durability) {
      return this;
    }

    /** Bytes of the trail's ring: a power of two, 64 KiB to 1 GiB; default 2 MiB. */
    public Builder trailBytes(int bytes) {
      return this;
    }

    /** Slots of the span table: a power of two, 16 to 65,536; default 1,024. */
    public Builder spanSlots(int slots) {
      return this;
    }

    /** Opens. */
    public Recorder open() {
      throw new AssertionError();
    }
  }
}
