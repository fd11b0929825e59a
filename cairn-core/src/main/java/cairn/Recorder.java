package cairn;

import cairn.format.Forms;
import cairn.report.Report;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Records what the application is doing into a box that survives any death of the process.
 *
 * <pre>{@code
 * Recorder recorder = Recorder.builder("orders").release("1.4.2").open();
 * recorder.scope().user("42").tag("region", "eu");
 * recorder.breadcrumb(Level.INFO, "db", "SELECT orders", Map.of("rows", 3));
 * try (OpenSpan span = recorder.begin("POST /orders")) {
 *   span.set("order.id", 17L);
 * }
 * }</pre>
 *
 * <p>Any thread, virtual ones and shutdown hooks included; lock-free but for {@link Scope}. After
 * {@link #close}, and on a recorder that could not be opened, every call does nothing.
 *
 * <p>A record call makes no system call and allocates nothing in steady state: about 300 ns for a
 * breadcrumb with 230 bytes of data on the machine of {@code docs/BENCHMARKS.md}. It never throws
 * (but for an error of the virtual machine itself) and never waits.
 *
 * <p>What a returned call survives is in {@link Durability}; {@code docs/GUARANTEES.md} has every
 * promise with its limits.
 */
public final class Recorder implements AutoCloseable {
  static final String MODE_AUTO = "auto";
  static final String MODE_MAPPED = "mapped";
  static final String MODE_COPY = "copy";
  static final String MODE_OFF = "off";

  private static volatile Recorder global = new Recorder(null, "no recorder was opened");

  private final @Nullable OpenRun run;
  private final @Nullable String whyDisabled;
  private final Scope scope;
  private final OpenSpans openSpans;

  private Recorder(@Nullable OpenRun run, @Nullable String whyDisabled) {
    this.run = run;
    this.whyDisabled = whyDisabled;
    this.scope = new Scope(run);
    this.openSpans = new OpenSpans(run);
  }

  /**
   * Starts to configure a recorder.
   *
   * @param app the application's name: 1 to 100 characters; runs of one application are found
   *     together
   * @return a builder with the defaults that its methods name
   * @throws IllegalArgumentException if the name is blank or too long
   */
  public static Builder builder(String app) {
    return new Builder(app);
  }

  /**
   * {@return the recorder opened last in this class loader, else one that does nothing} What is
   * recorded before any was opened is gone, and nothing counts it: there is no box yet.
   */
  public static Recorder global() {
    return global;
  }

  /** {@return the scope of this run; the same object at each call} */
  public Scope scope() {
    return scope;
  }

  /**
   * Adds a breadcrumb without data; as {@link #breadcrumb(Level, String, String, Map)}.
   *
   * @param level null counts as {@link Level#INFO}
   * @param category what it is about, such as {@code db}; may be null
   * @param message what happened; may be null
   */
  public void breadcrumb(
      @Nullable Level level, @Nullable String category, @Nullable String message) {
    breadcrumb(level, category, message, null);
  }

  /**
   * Adds a breadcrumb to the trail; the oldest are overwritten when the ring is full. It carries
   * the wall-clock time, the calling thread's name and, where this thread has one open, its span.
   *
   * <p>Any thread; wait-free. Never throws, but for an error of the virtual machine in code of a
   * value, once the record is in the box: what is too long is cut and counted, and a value whose
   * own code throws becomes a placeholder. Survives process death once it returns.
   *
   * @param level null counts as {@link Level#INFO}
   * @param category what it is about, such as {@code db}; may be null; cut at 128 bytes
   * @param message what happened; may be null; cut at 8 KiB
   * @param data values by name, encoded before this returns; may be null. The whole record is
   *     bounded by 1/64 of the trail, 32 KiB by default
   */
  public void breadcrumb(
      @Nullable Level level,
      @Nullable String category,
      @Nullable String message,
      @Nullable Map<String, ?> data) {
    OpenRun open = run;
    if (open != null && open.enter()) {
      open.box.breadcrumb(level, category, message, data);
      open.leave();
    }
  }

  /**
   * Begins a span. Its parent is the span that this thread began last and that is still open; if
   * there is none, it starts a trace of its own.
   *
   * <p>Any thread; lock-free. If the table of open spans is full, the span is kept in the trail
   * instead, where a lap can overwrite it; counted in {@code spansOverflowed}. Survives process
   * death once it returns.
   *
   * @param name operation name, such as {@code POST /orders}; cut at 160 bytes
   * @return the span; end it with {@link OpenSpan#close}
   */
  public OpenSpan begin(@Nullable String name) {
    // One allocation site, so that the JIT can remove it: see OpenSpan.
    return new OpenSpan(run, run == null ? SpanTable.NONE : beginIn(run, name));
  }

  private static long beginIn(OpenRun open, @Nullable String name) {
    if (!open.enter()) {
      return SpanTable.NONE;
    }
    long handle = open.box.beginSpan(name);
    open.leave();
    return handle;
  }

  /**
   * {@return the open spans by handle, for tracers that have spans and ids of their own; the same
   * object at each call}
   */
  public OpenSpans openSpans() {
    return openSpans;
  }

  /**
   * Waits until everything recorded before this call is on disk, in the sense of power loss.
   *
   * @param timeout how long to wait at most
   *     <p>Any thread. Under {@link Durability#bounded} it asks for the force at once. An interrupt
   *     ends the wait and is kept.
   * @return true if it is. False when the time is over, when the journal cannot be written, and
   *     always under {@link Durability#process()}, which promises nothing about power loss and
   *     forces nothing
   */
  public boolean awaitDurable(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout");
    return run != null && run.awaitDurable(Durability.nanos(timeout));
  }

  /**
   * {@return the report of the run of this application before this one: how it ended, and the spans
   * that were open, so that a job can be queued again}
   *
   * <p>Of several new processes each dead run is given to one, once: to the first that asks, or at
   * the third beat, when the log gets one line if that run ended badly. A process that dies before
   * it has acted on it does not pass it on; {@code cairn list} still shows the run. Runs before one
   * that was adopted by a process that is dead now are history and not given to anybody.
   *
   * <p>Any thread; the same at each call. The first call reads the dead run's box: some 50 ms and
   * 10 MB of garbage. Never throws: what can't be read is empty, and said once in the log.
   */
  public Optional<Report> lastRun() {
    return run == null ? Optional.empty() : run.lastRun();
  }

  /** {@return whether record calls are recorded: it could be opened and is not closed} */
  public boolean isEnabled() {
    return run != null && run.isOpen();
  }

  /**
   * {@return how records reach the box} {@code mapped}: at the call. {@code copy}: within 100 ms,
   * since the file system is not known to be safe for mapping. Behind either, if the journal cannot
   * be written, {@code , durability in force: process since } when and why. Else {@code disabled: }
   * and why.
   */
  public String mode() {
    if (run == null) {
      return "disabled: " + whyDisabled;
    }
    if (!run.isOpen()) {
      return "disabled: closed";
    }
    String mode = run.isMapped() ? MODE_MAPPED : MODE_COPY;
    String failure = run.durabilityFailure();
    return failure == null ? mode : mode + ", durability in force: " + failure;
  }

  /** {@return the run's directory, or null if there is none} */
  public @Nullable Path directory() {
    return run == null ? null : run.directory();
  }

  /** {@return the run's id, or null if there is none} */
  public @Nullable String runId() {
    return run == null ? null : run.runId();
  }

  /**
   * Marks the run as ended by the application and gives its lock up. Later record calls do nothing.
   * A second call does nothing. Waits at most a second for each of Cairn's own threads, and two for
   * a last force. Not needed for a clean end: a shutdown hook marks that too.
   */
  @Override
  public void close() {
    if (run != null) {
      run.close();
    }
  }

  @Override
  public String toString() {
    return "Recorder{mode=" + mode() + ", directory=" + directory() + '}';
  }

  /**
   * Configures a recorder. A mistake throws at once; what the environment can't give never does:
   * see {@link #open}. One thread.
   */
  public static final class Builder {
    private static final int MAX_APP_LENGTH = 100;
    private static final int MIN_TRAIL_BYTES = 64 * 1024;
    private static final int MAX_TRAIL_BYTES = 1 << 28;
    private static final int MIN_SPAN_SLOTS = 16;
    private static final int MAX_SPAN_SLOTS = 1 << 16;

    private final String app;
    private @Nullable String release;
    private @Nullable String environment;
    private @Nullable Path root;
    private @Nullable Durability durability;
    private int trailBytes = 2 * 1024 * 1024;
    private int spanSlots = 1024;
    private int scopeBytes = BoxPlan.SCOPE_BYTES;
    private @Nullable Redaction redaction;
    private @Nullable Path terminationMessage;
    private boolean shared;
    private Forms forms = Forms.NONE;
    private Clock clock = Clock.SYSTEM;

    private Builder(String app) {
      Objects.requireNonNull(app, "app");
      if (app.isBlank() || app.length() > MAX_APP_LENGTH) {
        throw new IllegalArgumentException(
            "app is blank or too long: length=" + app.length() + ", limit=" + MAX_APP_LENGTH);
      }
      this.app = app;
    }

    /**
     * Sets the release. Default: the system property {@code cairn.release}, else the environment
     * variable {@code CAIRN_RELEASE}, else none.
     *
     * @param release such as {@code 1.4.2}
     * @return this
     */
    public Builder release(String release) {
      this.release = Objects.requireNonNull(release, "release");
      return this;
    }

    /**
     * Sets the environment. Default: the system property {@code cairn.environment}, else the
     * environment variable {@code CAIRN_ENVIRONMENT}, else none.
     *
     * @param environment such as {@code prod}
     * @return this
     */
    public Builder environment(String environment) {
      this.environment = Objects.requireNonNull(environment, "environment");
      return this;
    }

    /**
     * Sets the root directory, under which the run gets {@code <app>/<run-id>/}. Default: the
     * system property {@code cairn.dir}, else the environment variable {@code CAIRN_DIR}, else
     * {@code $XDG_STATE_HOME/cairn}, else {@code ~/.local/state/cairn}.
     *
     * @param root made if it is missing; must not be a symbolic link
     * @return this
     */
    public Builder directory(Path root) {
      this.root = Objects.requireNonNull(root, "root");
      return this;
    }

    /**
     * Sets what a returned call survives. Default: the system property {@code cairn.durability},
     * else the environment variable {@code CAIRN_DURABILITY}, which are of the form {@code
     * process}, {@code bounded(20, 100 ms)} or {@code power}; else {@link Durability#process()}.
     *
     * <p>{@link Durability#bounded} and {@link Durability#power} write a journal in the run's
     * directory, at most some 12 MiB with a trail of 2 MiB, on a thread of Cairn's own: what this
     * costs a record call is about an increment. If that fails, the run goes on under {@link
     * Durability#process()}; {@link Recorder#mode} and the report say so.
     *
     * @param durability what power loss may take
     * @return this
     */
    public Builder durability(Durability durability) {
      this.durability = Objects.requireNonNull(durability, "durability");
      return this;
    }

    /**
     * Sets the size of the trail. Default: 2 MiB, some 10,000 breadcrumbs. A record is at most 1/64
     * of it, and at most 32 KiB.
     *
     * @param bytes a power of two, 64 KiB to 256 MiB
     * @return this
     * @throws IllegalArgumentException for anything else
     */
    public Builder trailBytes(int bytes) {
      this.trailBytes = powerOfTwo("trailBytes", bytes, MIN_TRAIL_BYTES, MAX_TRAIL_BYTES);
      return this;
    }

    /**
     * Sets how much all fields of the scope take together; one field at most half of it. Default:
     * 32 KiB. Four times as much is on disk. Above the default, a map or list of the scope may have
     * 10,000 elements instead of 1,000.
     *
     * @param bytes a power of two, 32 KiB to 1 MiB
     * @return this
     * @throws IllegalArgumentException for anything else
     */
    public Builder scopeBytes(int bytes) {
      this.scopeBytes =
          powerOfTwo("scopeBytes", bytes, BoxPlan.SCOPE_BYTES, BoxPlan.MAX_SCOPE_BYTES);
      return this;
    }

    /**
     * Sets how many spans the table of open spans holds; 768 bytes each. Default: 1,024.
     *
     * @param slots a power of two, 16 to 65,536
     * @return this
     * @throws IllegalArgumentException for anything else
     */
    public Builder spanSlots(int slots) {
      this.spanSlots = powerOfTwo("spanSlots", slots, MIN_SPAN_SLOTS, MAX_SPAN_SLOTS);
      return this;
    }

    /**
     * Sets what is not recorded. Default: {@link Redaction#standard}, or {@link Redaction#none} if
     * the system property {@code cairn.redaction}, else the environment variable {@code
     * CAIRN_REDACTION}, is {@code none}; the property {@code cairn.redaction.keys}, else the
     * variable {@code CAIRN_REDACTION_KEYS}, adds keys, separated by commas.
     *
     * @param redaction replaces the default, the settings included
     * @return this
     */
    public Builder redaction(Redaction redaction) {
      this.redaction = Objects.requireNonNull(redaction, "redaction");
      return this;
    }

    /**
     * Sets a file that says, once a second, which spans are in flight: names and ages of the oldest
     * dozen, no attributes; at most 4,096 bytes of UTF-8, the headline in its last line. Kubernetes
     * shows what a container's {@code terminationMessagePath} holds in the status of the pod, to
     * everybody who may read pods, after a death of any kind. Default: the system property {@code
     * cairn.termination.message}, else the environment variable {@code CAIRN_TERMINATION_MESSAGE},
     * else none.
     *
     * <p>It is overwritten in place, never replaced; made if it is missing, readable by its owner
     * alone. If it can't be written the recorder says so once, counts it in {@code messageErrors},
     * and tries again every minute.
     *
     * @param file such as {@code /dev/termination-log}
     * @return this
     */
    public Builder terminationMessage(Path file) {
      this.terminationMessage = Objects.requireNonNull(file, "file");
      return this;
    }

    /**
     * Lets recorders that other class loaders of this JVM open from now on become parts of this
     * run, whatever application they name: for an agent, whose classes the application does not
     * see. One report has it all; scope and breadcrumbs of the parts are in it. Their release and
     * environment count if this run has none. Default: each recorder has a run of its own.
     *
     * @return this
     */
    public Builder shared() {
      this.shared = true;
      return this;
    }

    /**
     * Registers what is recorded in place of values of a type: of a class and its subclasses, or of
     * whatever implements an interface. The form of a value's own class comes first, then those of
     * its superclasses, then those of interfaces, as registered. What it returns is recorded as any
     * other value is; if it returns the value itself, that is recorded as if there were no form; if
     * it throws, a placeholder.
     *
     * <p>Not for null, {@link String}, {@link Long}, {@link Integer}, {@link Double} and {@link
     * Boolean}, which have no other form. Called on recording threads, by many at once.
     *
     * @param type such as {@code Money.class}
     * @param form such as {@code Money::cents}
     * @param <T> the type
     * @return this
     * @throws IllegalArgumentException if the type can have no other form, or has one already
     */
    public <T> Builder form(Class<T> type, Function<? super T, ? extends @Nullable Object> form) {
      Objects.requireNonNull(type, "type");
      Objects.requireNonNull(form, "form");
      forms = forms.with(type, v -> form.apply(type.cast(v)));
      return this;
    }

    Builder clock(Clock clock) {
      this.clock = clock;
      return this;
    }

    private static int powerOfTwo(String name, int value, int least, int most) {
      if (value < least || value > most || Integer.bitCount(value) != 1) {
        throw new IllegalArgumentException(
            name
                + " is not a power of two in its range: "
                + name
                + "="
                + value
                + ", least="
                + least
                + ", most="
                + most);
      }
      return value;
    }

    /**
     * Opens the recorder and makes it the {@link Recorder#global} one. What the environment can't
     * give (a full disk, a missing permission) gives a recorder that does nothing and says so in
     * {@link Recorder#mode} and once in the log; the application never notices.
     *
     * <p>Writes about 3 MiB of zeros; some 50 ms in a cold JVM, most of it loading classes. The
     * system property {@code cairn.mode}, else the environment variable {@code CAIRN_MODE}, chooses
     * {@code auto} (default), {@code mapped}, {@code copy} or {@code off}.
     *
     * @return the recorder; never null
     */
    public Recorder open() {
      Recorder recorder = tryOpen();
      global = recorder;
      return recorder;
    }

    private Recorder tryOpen() {
      try {
        String mode =
            Objects.requireNonNullElse(setting("cairn.mode", "CAIRN_MODE"), MODE_AUTO)
                .toLowerCase(Locale.ROOT);
        if (mode.equals(MODE_OFF)) {
          return new Recorder(null, "switched off: cairn.mode=off");
        }
        if (!mode.equals(MODE_AUTO) && !mode.equals(MODE_MAPPED) && !mode.equals(MODE_COPY)) {
          return disabled(
              "mode is unknown: cairn.mode=" + mode + " (use auto, mapped, copy or off)", null);
        }
        return new Recorder(OpenRun.open(this, rootOrDefault(), mode, clock), null);
      } catch (IOException | RuntimeException | LinkageError e) {
        String reason = e.getMessage() == null ? e.getClass().getName() : e.getMessage();
        return disabled(e.getClass().getSimpleName() + ": " + reason, e);
      }
    }

    private Recorder disabled(String why, @Nullable Throwable cause) {
      Log.warnOnce("nothing is recorded: app=" + app + ", reason=" + why, cause);
      return new Recorder(null, why);
    }

    private Path rootOrDefault() {
      if (root != null) {
        return root;
      }
      String set = setting("cairn.dir", "CAIRN_DIR");
      if (set != null) {
        return Path.of(set);
      }
      String state = System.getenv("XDG_STATE_HOME");
      // A relative one is to be ignored: XDG Base Directory Specification.
      return state != null && Path.of(state).isAbsolute()
          ? Path.of(state, "cairn")
          : Path.of(System.getProperty("user.home"), ".local", "state", "cairn");
    }

    private static @Nullable String setting(String property, String variable) {
      String value = System.getProperty(property);
      if (value == null || value.isEmpty()) {
        value = System.getenv(variable);
      }
      return value == null || value.isBlank() ? null : value.strip();
    }

    private String redactionText() {
      try {
        return redaction().toString();
      } catch (IllegalArgumentException e) {
        return String.valueOf(e.getMessage());
      }
    }

    String app() {
      return app;
    }

    boolean isShared() {
      return shared;
    }

    Forms forms() {
      return forms;
    }

    /** Throws {@link IllegalArgumentException} for a setting that names none. */
    Redaction redaction() {
      if (redaction != null) {
        return redaction;
      }
      String name = setting("cairn.redaction", "CAIRN_REDACTION");
      Redaction chosen;
      if (name == null || name.equalsIgnoreCase("standard")) {
        chosen = Redaction.standard();
      } else if (name.equalsIgnoreCase("none")) {
        chosen = Redaction.none();
      } else {
        throw new IllegalArgumentException(
            "redaction is unknown: cairn.redaction=" + name + " (use standard or none)");
      }
      String keys = setting("cairn.redaction.keys", "CAIRN_REDACTION_KEYS");
      if (keys != null) {
        for (String key : keys.split(",", -1)) {
          if (!key.isBlank()) {
            chosen = chosen.keys(key.strip());
          }
        }
      }
      return chosen;
    }

    @Nullable String release() {
      return release != null ? release : setting("cairn.release", "CAIRN_RELEASE");
    }

    @Nullable String environment() {
      return environment != null ? environment : setting("cairn.environment", "CAIRN_ENVIRONMENT");
    }

    /** A setting that names none is said and not followed: a typo must not cost the recording. */
    Durability durability() {
      if (durability != null) {
        return durability;
      }
      String set = setting("cairn.durability", "CAIRN_DURABILITY");
      try {
        return set == null ? Durability.process() : Durability.parse(set);
      } catch (IllegalArgumentException e) {
        Log.warnOnce(e.getMessage() + "; recorded under process", e);
        return Durability.process();
      }
    }

    @Nullable Path terminationMessage() {
      if (terminationMessage != null) {
        return terminationMessage;
      }
      String set = setting("cairn.termination.message", "CAIRN_TERMINATION_MESSAGE");
      try {
        return set == null ? null : Path.of(set);
      } catch (InvalidPathException e) {
        Log.warnOnce("no termination message is written: " + e.getMessage(), e);
        return null;
      }
    }

    int trailBytes() {
      return trailBytes;
    }

    int spanSlots() {
      return spanSlots;
    }

    int scopeBytes() {
      return scopeBytes;
    }

    /** {@return the effective values} */
    @Override
    public String toString() {
      return "Recorder.Builder{app="
          + app
          + ", release="
          + release()
          + ", environment="
          + environment()
          + ", directory="
          + rootOrDefault()
          + ", durability="
          + durability()
          + ", trailBytes="
          + trailBytes
          + ", scopeBytes="
          + scopeBytes
          + ", spanSlots="
          + spanSlots
          + ", terminationMessage="
          + terminationMessage()
          + ", shared="
          + shared
          + ", redaction="
          + redactionText()
          + '}';
    }
  }
}
