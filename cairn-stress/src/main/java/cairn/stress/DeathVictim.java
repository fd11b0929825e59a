package cairn.stress;

import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A server that dies in one of many ways, and records until then: its threads have open spans and
 * add breadcrumbs.
 *
 * <p>Arguments: root directory, the way, its numbers. It prints {@code ready} once every thread has
 * its span; then it waits for the line {@code go} on its standard input, and dies if the way says
 * so. At the end of its input it halts: it must not outlive the process that started it.
 */
public final class DeathVictim {
  /** The name of the recorder's application. */
  static final String APP = "shop";

  /** How many threads serve, unless the system property of that name says otherwise. */
  static final int THREADS = 4;

  static final String THREADS_PROPERTY = "cairn.stress.threads";

  /** What is logged last, and is not in the log file when the process dies. */
  static final String LAST_WORDS = "payment 17 was taken and no order is left";

  /** The span that each of them has open all the time. */
  static final String REQUEST = "POST /orders";

  /** The span of what kills the process from within. */
  static final String CULPRIT = "POST /export";

  private static final int ORPHANED = 9;
  private static final int MIB = 1 << 20;
  private static final long APPENDER_MILLIS = 50;
  private static final List<Object> KEPT = new ArrayList<>();

  private final Recorder recorder;
  private final String[] way;

  private DeathVictim(Recorder recorder, String[] way) {
    this.recorder = recorder;
    this.way = way;
  }

  /** Serves, then dies in that way. */
  public static void main(String[] args) throws Exception {
    String[] way = List.of(args).subList(1, args.length).toArray(new String[0]);
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    beforeRecording(way[0]);
    Recorder recorder = Recorder.builder(APP).release("1.0").directory(Path.of(args[0])).open();
    if (!recorder.isEnabled()) {
      System.exit(ORPHANED);
    }
    recorder.scope().tag("way", way[0]);
    DeathVictim victim = new DeathVictim(recorder, way);
    victim.serve();
    if (way[0].equals("hook-hangs-and")) {
      hook("stuck-hook", DeathVictim::hang);
      victim =
          new DeathVictim(recorder, List.of(way).subList(1, way.length).toArray(new String[0]));
    }
    victim.prepare();
    print("ready");
    String line = commands.readLine();
    if (line == null) {
      Runtime.getRuntime().halt(ORPHANED);
    }
    daemon("orphan", () -> haltAtTheEndOf(commands)).start();
    victim.die();
  }

  private static void print(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static void haltAtTheEndOf(BufferedReader commands) {
    try {
      while (commands.readLine() != null) {
        // Nothing more to say.
      }
    } catch (IOException e) {
      // As its end.
    }
    Runtime.getRuntime().halt(ORPHANED);
  }

  private static Thread daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  private static Thread worker(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.start();
    return thread;
  }

  private void serve() throws InterruptedException {
    int threads = Integer.getInteger(THREADS_PROPERTY, THREADS);
    CountDownLatch serving = new CountDownLatch(threads);
    for (int t = 1; t <= threads; t++) {
      daemon("http-" + t, () -> serveOn(serving)).start();
    }
    serving.await();
  }

  private void serveOn(CountDownLatch serving) {
    try (OpenSpan request = recorder.begin(REQUEST)) {
      request.set("thread", Thread.currentThread().getName());
      for (long i = 0; ; i++) {
        try (OpenSpan query = recorder.begin("SELECT items")) {
          query.set("row", i);
          recorder.breadcrumb(Level.INFO, "db", "SELECT items", Map.of("row", i));
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        } catch (OutOfMemoryError e) {
          // A server that goes on.
        }
        if (i == 0) {
          serving.countDown();
        }
      }
    }
  }

  // Before the recorder

  private static void beforeRecording(String name) {
    if (name.equals("uncaught-halt")) {
      Thread.setDefaultUncaughtExceptionHandler((t, e) -> Runtime.getRuntime().halt(1));
    } else if (name.equals("uncaught-exit")) {
      Thread.setDefaultUncaughtExceptionHandler((t, e) -> Library.giveUp(3));
    } else if (name.equals("uncaught-handled")) {
      Thread.setDefaultUncaughtExceptionHandler((t, e) -> {});
    }
  }

  // Before it says that it is ready

  private void prepare() throws ReflectiveOperationException {
    switch (way[0]) {
      case "hook-hangs" -> hook("stuck-hook", DeathVictim::hang);
      case "hook-is-slow", "return-slow-hook" -> hook("slow-hook", () -> pause(number(1)));
      case "hook-halts", "return-hook-halts", "exit-hook-halts" ->
          hook(
              "halting-hook",
              () -> {
                pause(50);
                Runtime.getRuntime().halt(number(1));
              });
      case "hook-exits" -> hook("exiting-hook", () -> Library.giveUp(number(1)));
      case "hook-closes" -> hook("closing-hook", recorder::close);
      case "hook-closes-and-hangs" ->
          hook(
              "stuck-hook",
              () -> {
                recorder.close();
                hang();
              });
      case "handles-term" -> onSignal("TERM", () -> Library.giveUp(number(1)));
      case "uncaught-own-handler" ->
          // As Spring Boot does with the thread that runs the application.
          Thread.currentThread().setUncaughtExceptionHandler((t, e) -> {});
      case "hook-crashes" -> hook("crashing-hook", DeathVictim::crash);
      case "hook-fills" -> hook("greedy-hook", () -> fillHeap(number(1), number(2), 0));
      case "hook-hangs-watchdog" -> {
        hook("stuck-hook", DeathVictim::hang);
        hook(
            "watchdog",
            () -> {
              pause(number(2));
              Runtime.getRuntime().halt(number(1));
            });
      }
      case "lose-lock" -> {
        Path lock = Objects.requireNonNull(recorder.directory()).resolve("lock");
        try {
          Files.newByteChannel(lock).close(); // takes the process's lock with it
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      }
      case "uncaught-replaced" -> Thread.setDefaultUncaughtExceptionHandler((t, e) -> {});
      default -> {
        // Nothing to prepare.
      }
    }
  }

  private static void hook(String name, Runnable work) {
    Runtime.getRuntime().addShutdownHook(new Thread(work, name));
  }

  /** Never returns. */
  static void hang() {
    while (true) {
      LockSupport.park();
    }
  }

  private static void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private int number(int index) {
    return Integer.parseInt(way[index]);
  }

  // sun.misc.Signal by reflection: naming it is a warning that cannot be suppressed.
  private static void onSignal(String name, Runnable work) throws ReflectiveOperationException {
    Class<?> type = Class.forName("sun.misc.Signal");
    Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          work.run();
          return null;
        };
    Object proxy =
        Proxy.newProxyInstance(
            DeathVictim.class.getClassLoader(), new Class<?>[] {handlerType}, handler);
    type.getMethod("handle", type, handlerType)
        .invoke(null, type.getConstructor(String.class).newInstance(name), proxy);
  }

  // The death

  private void die() throws Exception {
    switch (way[0]) {
      case "return", "return-slow-hook", "return-hook-halts" -> {
        // main returns; only daemon threads are left
      }
      case "return-late" -> worker("late", () -> pause(number(1)));
      case "close" -> recorder.close();
      case "close-and-live" -> {
        recorder.close();
        print("closed");
        hang();
      }
      case "exit", "exit-hook-halts" -> System.exit(number(1));
      case "exit-worker" -> {
        worker("http-9", this::exportAndGiveUp);
        hang();
      }
      case "exit-virtual" -> {
        Thread.class
            .getMethod("startVirtualThread", Runnable.class)
            .invoke(null, (Runnable) this::exportAndGiveUp);
        hang();
      }
      case "exit-twice" -> {
        worker("http-8", this::exportAndGiveUp);
        worker("http-9", this::exportAndGiveUp);
        hang();
      }
      case "uncaught-main",
          "uncaught-halt",
          "uncaught-exit",
          "uncaught-replaced",
          "uncaught-handled",
          "uncaught-own-handler" ->
          fail();
      case "uncaught-main-exit" -> {
        worker(
            "late",
            () -> {
              pause(number(2));
              Library.giveUp(number(1));
            });
        fail();
      }
      case "uncaught-main-late" -> {
        worker("late", () -> pause(number(1)));
        fail();
      }
      case "uncaught-renamed-main" -> {
        Thread.currentThread().setName("boot");
        fail();
      }
      case "uncaught-false-main" -> {
        worker("main", DeathVictim::fail).join();
        pause(100);
      }
      case "uncaught-stack" -> Library.recurse(0);
      case "uncaught-worker" -> {
        worker("http-9", DeathVictim::fail).join();
        print("failed");
        hang();
      }
      case "halt" -> Runtime.getRuntime().halt(number(1));
      case "halt-worker" -> {
        worker("http-9", () -> Runtime.getRuntime().halt(number(1)));
        hang();
      }
      case "log-and-halt" -> {
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        daemon("async-appender", () -> append(queue, Path.of(way[2]))).start();
        logError(queue, "first words");
        pause(3 * APPENDER_MILLIS);
        logError(queue, LAST_WORDS);
        Runtime.getRuntime().halt(number(1));
      }
      case "batch" -> {
        OpenSpan job = recorder.begin("job nightly").set("date", "2026-11-30");
        OpenSpan step = recorder.begin("step load").set("file", "orders.csv");
        OpenSpan chunk = recorder.begin("chunk").set("number", 17L);
        print("working");
        hang();
        for (OpenSpan span : List.of(chunk, step, job)) {
          span.close();
        }
      }
      case "oom-main" -> exhaust();
      case "oom-main-array" -> export(() -> KEPT.add(new byte[Integer.MAX_VALUE - 8]));
      case "oom-worker" -> {
        worker("http-9", () -> export(DeathVictim::exhaust)).join();
        print("failed");
        hang();
      }
      case "oom-swallowed" -> {
        worker("http-9", () -> swallow(DeathVictim::exhaust)).join();
        print("failed");
        hang();
      }
      case "oom-direct-swallowed" -> {
        // Java code throws this one, so ExitOnOutOfMemoryError does not see it.
        worker("http-9", () -> swallow(() -> KEPT.add(ByteBuffer.allocateDirect(64 * MIB)))).join();
        print("failed");
        hang();
      }
      case "heap" -> {
        worker("http-9", () -> export(() -> fillHeap(number(1), number(2), number(3))));
        hang();
      }
      case "direct" -> {
        worker("http-9", () -> export(() -> fillDirect(number(1), number(2), number(3))));
        hang();
      }
      case "segv" -> {
        worker("http-9", () -> export(DeathVictim::crash));
        hang();
      }
      case "native-abort" -> export(() -> callNative("abort"));
      case "native-exit" -> export(() -> callNative("_exit", number(1)));
      case "collect" -> {
        worker("churn-1", DeathVictim::collect);
        collect();
      }
      default -> hang(); // the end comes from outside
    }
  }

  private void logError(BlockingQueue<String> queue, String message) {
    recorder.breadcrumb(Level.ERROR, "payments", message);
    queue.add(message + "\n");
  }

  /** An appender that writes in the background, as all fast ones do. */
  private static void append(BlockingQueue<String> queue, Path file) {
    try {
      while (true) {
        String line = queue.take();
        pause(APPENDER_MILLIS);
        Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void exportAndGiveUp() {
    export(() -> Library.giveUp(number(1)));
  }

  /** Does it as the request that is to blame. */
  private void export(Runnable work) {
    try (OpenSpan span = recorder.begin(CULPRIT)) {
      span.set("tenant", "acme");
      recorder.breadcrumb(Level.INFO, "export", "export begins");
      work.run();
    }
  }

  private static void fail() {
    throw new IllegalStateException("no such order: 17");
  }

  /** Takes all of the heap. */
  private static void exhaust() {
    Object[] taken = {};
    while (true) {
      taken = new Object[] {taken, new byte[MIB]};
    }
  }

  private void swallow(Runnable work) {
    try {
      export(work);
    } catch (OutOfMemoryError e) {
      recorder.breadcrumb(Level.ERROR, "web", "500 " + e);
    }
  }

  /** Takes {@code chunks} times {@code mebibytes}, with a pause behind each, and keeps it. */
  private static void fillHeap(int mebibytes, int chunks, int pauseMillis) {
    for (int i = 0; i < chunks; i++) {
      KEPT.add(new byte[mebibytes * MIB]);
      pause(pauseMillis);
    }
    print("filled");
    hang();
  }

  private static void fillDirect(int mebibytes, int chunks, int pauseMillis) {
    for (int i = 0; i < chunks; i++) {
      KEPT.add(ByteBuffer.allocateDirect(mebibytes * MIB)); // zeroed, so it takes real memory
      pause(pauseMillis);
    }
    print("filled");
    hang();
  }

  private static void collect() {
    byte[][] window = new byte[64][];
    for (int i = 0; ; i++) {
      window[i % window.length] = new byte[i % 100_000];
      if (i % 10_000 == 0) {
        System.gc();
      }
    }
  }

  private static void crash() {
    try {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field field = type.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      type.getMethod("putAddress", long.class, long.class).invoke(field.get(null), 0L, 0L);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Calls a function of the C library; needs Java 22. By reflection: compiled for Java 17. */
  private static void callNative(String function, int... argument) {
    try {
      Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
      Class<?> segmentType = Class.forName("java.lang.foreign.MemorySegment");
      Class<?> layoutType = Class.forName("java.lang.foreign.MemoryLayout");
      Class<?> descriptorType = Class.forName("java.lang.foreign.FunctionDescriptor");
      Object linker = linkerType.getMethod("nativeLinker").invoke(null);
      Object lookup = linkerType.getMethod("defaultLookup").invoke(linker);
      Method find = Class.forName("java.lang.foreign.SymbolLookup").getMethod("find", String.class);
      Object address = ((Optional<?>) find.invoke(lookup, function)).orElseThrow();
      Object layouts = java.lang.reflect.Array.newInstance(layoutType, argument.length);
      for (int i = 0; i < argument.length; i++) {
        Object layout =
            Class.forName("java.lang.foreign.ValueLayout").getField("JAVA_INT").get(null);
        java.lang.reflect.Array.set(layouts, i, layout);
      }
      Object descriptor =
          descriptorType.getMethod("ofVoid", layouts.getClass()).invoke(null, layouts);
      Object options =
          java.lang.reflect.Array.newInstance(Class.forName("java.lang.foreign.Linker$Option"), 0);
      MethodHandle handle =
          (MethodHandle)
              linkerType
                  .getMethod("downcallHandle", segmentType, descriptorType, options.getClass())
                  .invoke(linker, address, descriptor, options);
      List<Object> arguments = new ArrayList<>();
      for (int value : argument) {
        arguments.add(value);
      }
      handle.invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new IllegalStateException("no such call: function=" + function, e);
    }
  }

  /** Somebody else's code. */
  static final class Library {
    private Library() {}

    static void giveUp(int status) {
      System.exit(status);
    }

    /** Never ends, but for a depth that no stack holds. */
    static long recurse(long depth) {
      return depth == Long.MAX_VALUE ? depth : recurse(depth + 1) + 1;
    }
  }
}
