package cairn;

import cairn.format.CborWriter;
import cairn.format.CounterLayout;
import cairn.format.KeyCache;
import cairn.format.Secrets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the run is ending: the life-cycle word of the box and the last uncaught exception.
 *
 * <p>Any thread; calls exclude each other. Survives process death once a call returns.
 */
final class LifeCycle {
  /** Recording; no end in sight. */
  static final String OPEN = "OPEN";

  /** The JVM is shutting down; other hooks may still record. */
  static final String CLOSING = "CLOSING";

  /** Ended: stored after everything else. */
  static final String CLEAN = "CLEAN";

  private static final int MAX_FRAMES = 32;

  /** Of a hook's stack, so that the frames of an exit find room beside it. */
  private static final int MAX_HOOK_FRAMES = 6;

  private static final int MAX_FRAME_BYTES = 160;
  private static final int MAX_TEXT_BYTES = 512;

  private final TwoCopies life;
  private final TwoCopies uncaught;
  private final Clock clock;
  private final Counters counters;
  private final Secrets.@Nullable Rule rule;
  private final byte[] bytes;
  private final CborWriter out;
  private End end = End.NONE;
  private boolean handlerReplaced;
  private String state = OPEN;
  private boolean mainFailed;
  private long stateWallMillis;
  private long stateNanos;
  private @Nullable String hook;
  private List<StackTraceElement> hookStack = List.of();
  private @Nullable String inForce;

  /**
   * Why a run ends.
   *
   * @param reason as FORMAT.md lists them
   * @param signal name, for a signal
   * @param thread that called exit
   * @param caller its frames, innermost first
   * @param status given to exit, null if it is not known
   */
  record End(
      @Nullable String reason,
      @Nullable String signal,
      @Nullable String thread,
      List<StackTraceElement> caller,
      @Nullable Integer status) {
    static final End NONE = new End(null, null, null, List.of(), null);

    static final End UNKNOWN = of("UNKNOWN");

    static End of(String reason) {
      return new End(reason, null, null, List.of(), null);
    }
  }

  /**
   * A call of {@code Runtime.exit}.
   *
   * @param status its argument
   * @param thread the caller's name
   * @param stack the caller's, innermost first
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
  record Exit(int status, String thread, StackTraceElement[] stack) {}

  LifeCycle(TwoCopies life, TwoCopies uncaught, Clock clock, Secrets secrets, Counters counters) {
    this.life = life;
    this.uncaught = uncaught;
    this.clock = clock;
    this.counters = counters;
    this.rule = secrets.rule();
    this.bytes = new byte[Math.max(life.payloadLimit(), uncaught.payloadLimit())];
    this.out = new CborWriter(bytes, new KeyCache(secrets));
  }

  synchronized void open() {
    write(OPEN);
  }

  /**
   * Notes why the run ends.
   *
   * @param blind whether the default handler for uncaught exceptions is no longer Cairn's
   */
  synchronized void closing(End why, boolean blind) {
    end = why;
    handlerReplaced = blind;
    write(CLOSING);
  }

  /** Marks the end, for the reason that {@link #closing} gave. */
  synchronized void clean() {
    write(CLEAN);
  }

  /** Notes which durability is in force, if not the one that was asked for. */
  synchronized void inForce(String durability) {
    inForce = durability;
    store();
  }

  /**
   * Notes a shutdown hook that is still at work.
   *
   * @param thread its name; null if none was found
   * @param stack its frames, innermost first
   */
  synchronized void stillIn(@Nullable String thread, List<StackTraceElement> stack) {
    hook = thread;
    hookStack = List.copyOf(stack.subList(0, Math.min(stack.size(), MAX_HOOK_FRAMES)));
    store();
  }

  private void write(String newState) {
    state = newState;
    stateWallMillis = clock.wallMillis();
    stateNanos = clock.nanos();
    store();
  }

  /** Stores the state with the clocks of when it began, which are not to change. */
  private void store() {
    out.reset(0, life.payloadLimit() - 1);
    out.beginMap();
    text("state", state);
    text("reason", end.reason());
    text("signal", end.signal());
    text("inForce", inForce);
    out.key("wallMillis");
    out.integer(stateWallMillis);
    out.key("nanos");
    out.integer(stateNanos);
    text("thread", end.thread());
    Integer status = end.status();
    if (status != null) {
      out.key("status");
      out.integer(status);
    }
    text("handler", handlerReplaced ? "replaced" : null);
    text("hook", hook);
    if (!hookStack.isEmpty()) {
      frames("hookStack", hookStack);
    }
    if (!end.caller().isEmpty()) {
      frames("caller", end.caller());
    }
    out.limit(out.limit() + 1);
    out.end();
    life.write(bytes, out.position());
  }

  /** Notes an exception that no handler caught. */
  void uncaught(Thread thread, Throwable thrown) {
    // First what takes no memory: that may be what there is none of.
    uncaught(thread, thrown.getClass().getName(), null, List.of());
    try {
      // Code of the application: not under the lock, which the shutdown hook needs.
      String message = ruled(messageOf(thrown));
      uncaught(thread, thrown.getClass().getName(), message, stackOf(thrown));
    } catch (Throwable e) {
      counters.increment(CounterLayout.PLACEHOLDERS); // type and thread are there
    }
  }

  /**
   * Encodes such an exception without storing it, so that nothing needs to be made when there is no
   * memory.
   */
  synchronized void prepare() {
    encode(Thread.currentThread(), OutOfMemoryError.class.getName(), "Java heap space", List.of());
  }

  private synchronized void uncaught(
      Thread thread, String type, @Nullable String message, List<StackTraceElement> stack) {
    boolean isMain = isMain(thread);
    if (mainFailed && !isMain) {
      return; // what ended main ended the application; others often fail after it
    }
    mainFailed = isMain;
    encode(thread, type, message, stack);
    uncaught.write(bytes, out.position());
    if (out.redactions() != 0) {
      counters.add(CounterLayout.REDACTED, out.redactions());
      out.redactions(0);
    }
  }

  private void encode(
      Thread thread, String type, @Nullable String message, List<StackTraceElement> stack) {
    out.reset(0, uncaught.payloadLimit() - 1);
    out.beginMap();
    text("thread", thread.getName());
    out.key("main");
    out.bool(isMain(thread));
    text("type", type);
    text("message", message);
    out.key("wallMillis");
    out.integer(clock.wallMillis());
    out.key("nanos");
    out.integer(clock.nanos());
    frames("stack", stack);
    out.limit(out.limit() + 1);
    out.end();
  }

  /**
   * {@return whether that is the thread that {@code main} runs on, whatever it is called} It is the
   * first of the JVM: number 1 in HotSpot 17 to 24, 3 in 25 (seen there); another thread with such
   * a number belongs to the JVM and is in the group {@code system}.
   */
  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  static boolean isMain(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    // Both always: what prepare() has not executed may need memory at its first time, a literal
    // too.
    boolean inMainGroup = group != null && group.getName().equals("main");
    long id = thread.getId();
    return inMainGroup && (id == 1 || id == 3);
  }

  private @Nullable String ruled(@Nullable String message) {
    Secrets.Rule asked = rule;
    if (asked == null || message == null) {
      return message;
    }
    String result;
    try {
      result = asked.apply(null, message);
    } catch (Throwable e) {
      result = null;
    }
    if (!message.equals(result)) {
      counters.increment(CounterLayout.REDACTED);
    }
    return result == null ? Secrets.MARK : result;
  }

  private static @Nullable String messageOf(Throwable thrown) {
    try {
      return thrown.getMessage();
    } catch (Throwable e) {
      String name = e.getClass().getName();
      return "<threw " + name.substring(name.lastIndexOf('.') + 1) + ">";
    }
  }

  private static List<StackTraceElement> stackOf(Throwable thrown) {
    try {
      return List.of(thrown.getStackTrace());
    } catch (Throwable e) {
      return List.of();
    }
  }

  private void text(String key, @Nullable String value) {
    if (value == null) {
      return;
    }
    int start = out.position();
    if (!out.key(key) || out.textCut(value, MAX_TEXT_BYTES) == CborWriter.NONE) {
      out.position(start);
    }
  }

  private void frames(String key, List<StackTraceElement> frames) {
    int start = out.position();
    // One byte more than the map's own end: the array's.
    out.limit(out.limit() - 1);
    boolean begun = out.key(key) && out.beginArray();
    for (int i = 0; begun && i < Math.min(frames.size(), MAX_FRAMES); i++) {
      if (out.textCut(frames.get(i).toString(), MAX_FRAME_BYTES) == CborWriter.NONE) {
        break;
      }
    }
    out.limit(out.limit() + 1);
    if (begun) {
      out.end();
    } else {
      out.position(start);
    }
  }

  /**
   * Finds out why the JVM is shutting down, from the stacks of its threads; called from a shutdown
   * hook or while one runs. One safepoint. What HotSpot 17 to 25 show: a thread named after the
   * signal ("SIGTERM handler"), one named "DestroyJavaVM" after the last non-daemon thread ended,
   * or the thread inside {@code Runtime.exit}; nothing for an exit called on a virtual thread.
   *
   * @param heard a call of exit that was logged: it tells the status, and a virtual thread
   */
  static End shutdownReason(@Nullable Exit heard) {
    End seen;
    try {
      seen = reason();
    } catch (OutOfMemoryError e) {
      seen = End.UNKNOWN; // the stacks found no room
    }
    if (heard == null) {
      return seen;
    }
    // What is heard may be another exit: one that waits for the shutdown that a signal began.
    boolean same = "EXIT".equals(seen.reason()) && heard.thread().equals(seen.thread());
    if (same || "UNKNOWN".equals(seen.reason())) {
      return new End("EXIT", null, heard.thread(), callers(heard.stack()), heard.status());
    }
    return seen;
  }

  private static End reason() {
    Map<Thread, StackTraceElement[]> stacks = Thread.getAllStackTraces();
    for (Map.Entry<Thread, StackTraceElement[]> entry : stacks.entrySet()) {
      String name = entry.getKey().getName();
      StackTraceElement[] frames = entry.getValue();
      if (!runsHooks(frames)) {
        continue; // another exit waits for the shutdown that this one began
      }
      boolean isHandler = isIn(frames, "jdk.internal.misc.Signal$1"); // names can be anybody's
      if (isHandler && name.startsWith("SIG") && name.endsWith(" handler")) {
        return new End("SIGNAL", name.substring(0, name.indexOf(' ')), null, List.of(), null);
      }
      if (name.equals("DestroyJavaVM") && !isIn(frames, "java.lang.Runtime")) {
        return End.of("RETURNED");
      }
      return new End("EXIT", null, name, callers(frames), null);
    }
    return End.UNKNOWN;
  }

  private static boolean runsHooks(StackTraceElement[] frames) {
    for (StackTraceElement frame : frames) {
      if (frame.getClassName().equals("java.lang.Shutdown")
          && frame.getMethodName().equals("runHooks")) {
        return true;
      }
    }
    return false;
  }

  static boolean isIn(StackTraceElement[] frames, String type) {
    for (StackTraceElement frame : frames) {
      if (frame.getClassName().equals(type)) {
        return true;
      }
    }
    return false;
  }

  /** The frames outside those of the JDK's own exit. */
  private static List<StackTraceElement> callers(StackTraceElement[] frames) {
    int first = 0;
    for (int i = 0; i < frames.length; i++) {
      String type = frames[i].getClassName();
      if ((type.equals("java.lang.System") || type.equals("java.lang.Runtime"))
          && frames[i].getMethodName().equals("exit")) {
        first = i + 1;
      }
    }
    return List.of(frames).subList(first, frames.length);
  }
}
