package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassLoadersTest {
  @TempDir Path root;

  private Object openIn(ClassLoader loader, String app) throws ReflectiveOperationException {
    Class<?> type = loader.loadClass("cairn.Recorder");
    Object builder = type.getMethod("builder", String.class).invoke(null, app);
    builder.getClass().getMethod("directory", Path.class).invoke(builder, root);
    return builder.getClass().getMethod("open").invoke(builder);
  }

  private static URLClassLoader loader() {
    URL classes = Recorder.class.getProtectionDomain().getCodeSource().getLocation();
    return new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
  }

  @Test
  void twoClassLoadersRecordSideBySideAndNeitherTakesTheOthersLockAway() throws Exception {
    try (URLClassLoader first = loader();
        URLClassLoader second = loader()) {
      AutoCloseable one = (AutoCloseable) openIn(first, "one");
      AutoCloseable two = (AutoCloseable) openIn(second, "two");
      assertThat(one.getClass()).isNotSameAs(two.getClass()).isNotSameAs(Recorder.class);

      // This loader looks at both: opening their lock files here would drop the locks.
      for (Run run : Runs.under(root)) {
        assertThat(run.isRunning()).isTrue();
        assertThat(run.report().findings()).isEmpty();
      }
      assertThat(lookFromOutside()).contains("one=true", "two=true");

      one.close();
      assertThat(lookFromOutside()).contains("one=false", "two=true");
      two.close();
      assertThat(lookFromOutside()).contains("one=false", "two=false");
    }
  }

  private String lookFromOutside() throws IOException {
    return ChildJvm.run(Look.class, root.toString());
  }

  /** Says which runs are alive. */
  static final class Look {
    public static void main(String[] args) throws IOException {
      List<Run> runs = Runs.under(Path.of(args[0])).list();
      for (Run run : runs) {
        System.out.println(run.app() + "=" + run.isRunning());
      }
    }
  }
}
