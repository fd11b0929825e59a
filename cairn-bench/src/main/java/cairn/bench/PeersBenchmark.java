package cairn.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The caller's cost of one event of about 230 bytes, Cairn's and that of its peers. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PeersBenchmark {

  /** The target of all threads. */
  @State(Scope.Benchmark)
  public static class Opened {
    @Param({
      "cairn",
      "jfr",
      "sentry-memory",
      "log4j2-mapped",
      "logback-buffered",
      "logback",
      "chronicle",
      "write",
      "sqlite",
      "otel-span"
    })
    String target = "";

    final Calls calls = new Calls();
    private final Scratch scratch = Scratch.create("peer");
    private Target opened;

    @Setup(Level.Trial)
    public void open() throws Exception {
      opened = Target.open(target, scratch.directory());
    }

    @TearDown(Level.Trial)
    public void finish() throws Exception {
      try (scratch) {
        opened.finish(calls.sum());
      }
    }
  }

  /** One calling thread. */
  @State(Scope.Thread)
  public static class Caller extends Calls.Caller {
    @Setup(Level.Trial)
    public void join(Opened opened) {
      opened.calls.join(this);
    }
  }

  @Benchmark
  public void record(Opened opened, Caller caller) throws Exception {
    opened.opened.record(caller.next());
  }
}
