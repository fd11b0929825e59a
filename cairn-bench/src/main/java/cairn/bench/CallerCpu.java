package cairn.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * CPU time of the calling threads per call: on a busy machine it leaves out the time that another
 * process had the core. Not what peers do on threads of their own.
 */
public final class CallerCpu implements InternalProfiler {
  /** The name of the result. */
  static final String RESULT = "caller.cpu";

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final Queue<Joined> JOINED = new ConcurrentLinkedQueue<>();

  private long nanosBefore;
  private long callsBefore;

  private record Joined(long threadId, Calls.Caller caller) {}

  /** Called by JMH. */
  public CallerCpu() {}

  /** From now on the calling thread's time counts, and so do that caller's calls. */
  static void join(Calls.Caller caller) {
    JOINED.add(new Joined(Thread.currentThread().getId(), caller));
  }

  @Override
  public String getDescription() {
    return "CPU time of the calling threads per call";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    nanosBefore = nanos();
    callsBefore = calls();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long calls = calls() - callsBefore;
    double nanosPerCall = calls == 0 ? Double.NaN : (double) (nanos() - nanosBefore) / calls;
    return List.of(new ScalarResult(RESULT, nanosPerCall, "ns/op", AggregationPolicy.AVG));
  }

  private static long nanos() {
    long sum = 0;
    for (Joined one : JOINED) {
      sum += THREADS.getThreadCpuTime(one.threadId());
    }
    return sum;
  }

  private static long calls() {
    long sum = 0;
    for (Joined one : JOINED) {
      sum += one.caller().calls();
    }
    return sum;
  }
}
