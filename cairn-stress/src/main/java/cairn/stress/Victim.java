package cairn.stress;

import cairn.Recorder;
import cairn.stress.Oracle.Stream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The process that is killed: records what its {@link Plan} says and keeps its {@link Oracle}.
 *
 * <p>Arguments: plan, root directory, oracle file. It prints its recorder's mode, then obeys the
 * lines on its standard input: {@code forever} records without end, {@code rounds N} records N
 * rounds on each thread and prints {@code done}, {@code close} closes the recorder and returns from
 * {@code main}, {@code exit N} calls {@code System.exit}. At the end of its input it halts: it must
 * not outlive the process that started it.
 */
public final class Victim {
  /** Set to {@code true}, the threads are virtual; needs Java 21. */
  static final String VIRTUAL = "cairn.stress.virtual";

  private static final int KIND_STREAM = 0;
  private static final int ORPHANED = 9;
  private static final int AWAIT_EVERY = 32;
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private Victim() {}

  static String threadName(int thread) {
    return "w" + thread;
  }

  /** Records until told otherwise. */
  public static void main(String[] args) throws Exception {
    Plan plan = Plan.parse(args[0]);
    Oracle oracle = Oracle.open(Path.of(args[2]));
    Recorder recorder =
        Recorder.builder("victim")
            .release("1.0")
            .directory(Path.of(args[1]))
            .durability(Plan.durability(plan.durability()))
            .trailBytes(plan.trailBytes())
            .spanSlots(plan.spanSlots())
            .open();
    print((recorder.isEnabled() ? "enabled " : "disabled ") + recorder.mode());

    List<Walker> walkers = new ArrayList<>();
    for (int t = 0; t < plan.threads(); t++) {
      walkers.add(new Walker(recorder, plan, oracle, t));
    }
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    obey(commands, recorder, walkers);
  }

  private static void obey(BufferedReader commands, Recorder recorder, List<Walker> walkers)
      throws IOException, InterruptedException {
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "forever" -> walk(walkers, Long.MAX_VALUE);
        case "rounds" -> {
          for (Thread thread : walk(walkers, Long.parseLong(words[1]))) {
            thread.join();
          }
          print("done");
        }
        case "close" -> {
          recorder.close();
          return;
        }
        case "exit" -> System.exit(Integer.parseInt(words[1]));
        default -> throw new IllegalArgumentException("unknown command: " + line);
      }
    }
    Runtime.getRuntime().halt(ORPHANED);
  }

  private static List<Thread> walk(List<Walker> walkers, long rounds) {
    List<Thread> threads = new ArrayList<>();
    for (Walker walker : walkers) {
      walker.rounds = rounds;
      Thread thread = newThread(walker, threadName(walker.thread));
      thread.start();
      threads.add(thread);
    }
    return threads;
  }

  private static Thread newThread(Runnable task, String name) {
    if (Boolean.getBoolean(VIRTUAL)) {
      try {
        // By reflection, since this is compiled for Java 17:
        // Thread.ofVirtual().name(x).unstarted(y)
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Method rename = type.getMethod("name", String.class);
        Method unstarted = type.getMethod("unstarted", Runnable.class);
        return (Thread) unstarted.invoke(rename.invoke(builder, name), task);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("no virtual threads in this Java", e);
      }
    }
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  private static void print(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** One thread's way through the plan. Walks on where it stopped. */
  private static final class Walker implements Runnable {
    final int thread;
    // Written before the thread starts, read by it only.
    long rounds;

    private final Recorder recorder;
    private final Plan plan;
    private final Oracle oracle;
    private final ScopeLoad scope;
    private final SpanLoad spans;
    private final boolean writesScope;
    private final boolean awaits;
    private long round;
    private long crumb;
    private long update;
    private long spanStep;

    Walker(Recorder recorder, Plan plan, Oracle oracle, int thread) {
      this.recorder = recorder;
      this.plan = plan;
      this.oracle = oracle;
      this.thread = thread;
      this.scope = new ScopeLoad(plan, thread);
      this.spans = new SpanLoad(plan, thread);
      this.writesScope = ScopeLoad.isActive(plan, thread);
      this.awaits = !plan.durability().equals("process");
    }

    @Override
    public void run() {
      for (long end = rounds; end > 0; end--) {
        try {
          long bits = plan.bits(thread, KIND_STREAM, round++);
          step((int) (bits & 15));
          if (awaits && (bits >>> 32) % AWAIT_EVERY == 0) {
            awaitDurable();
          }
        } catch (RuntimeException | Error e) {
          oracle.fail(thread);
          e.printStackTrace();
          throw e;
        }
      }
    }

    private void awaitDurable() {
      if (recorder.awaitDurable(PATIENCE)) {
        oracle.durable(thread, Stream.SCOPE, update);
        oracle.durable(thread, Stream.SPANS, spanStep);
        oracle.durable(thread, Stream.CRUMBS, crumb);
      }
    }

    private void step(int kind) {
      if (kind < 3 && writesScope) {
        oracle.start(thread, Stream.SCOPE, update);
        scope.record(recorder.scope(), update);
        oracle.returned(thread, Stream.SCOPE, update++);
      } else if (kind < 7) {
        oracle.start(thread, Stream.SPANS, spanStep);
        spans.record(recorder, spanStep);
        oracle.returned(thread, Stream.SPANS, spanStep++);
      } else {
        long nanos = System.nanoTime();
        oracle.startCrumb(thread, crumb, nanos);
        CrumbLoad.record(recorder, plan, thread, crumb, nanos);
        oracle.returnedCrumb(thread, crumb++, System.nanoTime());
      }
    }
  }
}
