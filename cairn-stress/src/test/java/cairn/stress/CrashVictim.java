package cairn.stress;

import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Records a little and makes its JVM crash. Arguments: root, how. */
final class CrashVictim {
  static final String APP = "victim";
  static final String READY = "ready";
  static final int HALTED = 2;

  private CrashVictim() {}

  @SuppressWarnings("try") // the span is open when the JVM dies, and that is the point
  public static void main(String[] args) throws Exception {
    Recorder recorder = Recorder.builder(APP).directory(Path.of(args[0])).open();
    recorder.breadcrumb(Level.INFO, "victim", "about to crash");
    try (OpenSpan span = recorder.begin("POST /crash")) {
      span.set("how", args[1]);
      crash(args[1]);
    }
  }

  private static void crash(String how) throws Exception {
    switch (how) {
      case "main" -> poke();
      case "worker" -> {
        Thread thread = new Thread(CrashVictim::poke, "http-1");
        thread.start();
        thread.join();
      }
      case "virtual" -> {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        ((Thread) start.invoke(null, (Runnable) CrashVictim::poke)).join();
      }
      case "heap" -> {
        List<byte[]> kept = new ArrayList<>();
        while (true) {
          kept.add(new byte[1 << 20]);
        }
      }
      case "wait" -> {
        System.out.println(READY);
        System.out.flush();
        Thread.sleep(60_000);
      }
      case "halt" -> Runtime.getRuntime().halt(HALTED);
      default -> throw new IllegalArgumentException(how);
    }
  }

  private static void poke() {
    try {
      // By name: javac warns of the type itself, and of that it can't be told not to.
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field field = unsafe.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      unsafe.getMethod("putInt", long.class, int.class).invoke(field.get(null), 0L, 42);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
