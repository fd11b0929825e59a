package cairn.stress;

import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Records on one thread until everything is compiled, then once more between two system calls that
 * a trace can recognise.
 */
final class SyscallVictim {
  static final String BEGIN_MARK = "/cairn-stress-begin";
  static final String END_MARK = "/cairn-stress-end";
  static final String CONTROL = "/cairn-stress-control";
  static final int MEASURED = 20_000;
  private static final int WARM_UP = 200_000;

  private static final String[] VALUES = {"one", "two", "three", "four"};

  private SyscallVictim() {}

  public static void main(String[] args) {
    Recorder recorder =
        Recorder.builder("victim").directory(Path.of(args[0])).trailBytes(256 << 10).open();
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("rows", 3L);
    data.put("table", "orders");
    Path begin = Path.of(BEGIN_MARK);
    Path end = Path.of(END_MARK);
    // The marks too must be warm: what they load must not show between them.
    Files.exists(end);
    record(recorder, data, WARM_UP);
    record(recorder, data, WARM_UP);
    Files.exists(begin);
    record(recorder, data, MEASURED);
    Files.exists(end);
    // Proof that the trace would show one: the same once more, with a call in the middle.
    record(recorder, data, MEASURED);
    Files.exists(Path.of(CONTROL));
    Files.exists(end);
    System.out.println("mode=" + recorder.mode());
    recorder.close();
  }

  private static void record(Recorder recorder, Map<String, Object> data, int count) {
    for (int i = 0; i < count; i++) {
      recorder.breadcrumb(Level.INFO, "db", "SELECT orders", data);
      recorder.scope().tag("step", VALUES[i & 3]);
      try (OpenSpan span = recorder.begin("POST /orders")) {
        span.set("order.id", i);
        span.set("kind", VALUES[i & 3]);
      }
    }
  }
}
