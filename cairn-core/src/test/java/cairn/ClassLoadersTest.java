package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
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

  private static Object open(ClassLoader loader, Path root, String app, boolean shared)
      throws ReflectiveOperationException {
    Class<?> type = loader.loadClass("cairn.Recorder");
    Object builder = type.getMethod("builder", String.class).invoke(null, app);
    builder.getClass().getMethod("directory", Path.class).invoke(builder, root);
    if (shared) {
      builder.getClass().getMethod("shared").invoke(builder);
    }
    return builder.getClass().getMethod("open").invoke(builder);
  }

  private static void begin(Object recorder, String name) throws ReflectiveOperationException {
    recorder.getClass().getMethod("begin", String.class).invoke(recorder, name);
  }

  @Test
  void recordersOfOtherClassLoadersBecomePartsOfASharedRun() throws Exception {
    try (URLClassLoader agents = loader()) {
      AutoCloseable agent = (AutoCloseable) open(agents, root, "shop", true);
      try (Recorder recorder =
          Recorder.builder("of the application").release("1.4.2").directory(root).open()) {
        begin(agent, "GET /orders");
        begin(agent, "SELECT orders");
        recorder.begin("charge card").set("card", "visa");
        recorder.scope().user("42");
        recorder.breadcrumb(Level.INFO, "db", "SELECT orders");

        List<Run> runs = Runs.under(root).list();
        assertThat(runs).hasSize(1);
        assertThat(runs.get(0).app()).isEqualTo("shop");
        assertThat(recorder.runId()).isEqualTo(runs.get(0).id());
        assertThat(recorder.directory()).isEqualTo(runs.get(0).directory());
        Report report = runs.get(0).report();
        assertThat(report.openSpans())
            .extracting(UnfinishedSpan::name)
            .containsExactly("GET /orders", "SELECT orders", "charge card");
        assertThat(report.trail()).hasSize(1);
        assertThat(report.run().release()).isEqualTo("1.4.2");
        assertThat(report.scope().user()).containsEntry("id", "42");
        assertThat(report.findings()).isEmpty();
        assertThat(report.verdict().cause()).isEqualTo(Cause.RUNNING);
      }
      agent.close();
      try (Recorder next = Recorder.builder("of the application").directory(root).open()) {
        assertThat(Runs.under(root).list()).hasSize(2);
        assertThat(next.runId()).isNotEqualTo(Runs.under(root).list().get(1).id());
      }
      assertThat(System.getProperty("cairn.run.shared")).isNull();
    }
  }

  @Test
  void deathOfTheProcessIsToldOnceWithAllParts() throws IOException {
    String output = ChildJvm.run(Halt.class, root.toString());

    List<Run> runs = Runs.under(root).list();
    assertThat(runs).as(output).hasSize(1);
    Report report = runs.get(0).report();
    assertThat(report.verdict().cause()).isIn(Cause.KILLED, Cause.HALTED, Cause.UNKNOWN);
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::name)
        .containsExactly("GET /orders", "charge card");
    assertThat(report.trail())
        .extracting(Breadcrumb::message)
        .containsExactly("by password hunter2");

    runs.get(0)
        .scrub(Redaction.standard().keys("user").rule((key, text) -> text.replace("hunter2", "*")));
    assertThat(runs.get(0).report().trail().get(0).message()).doesNotContain("hunter2");
  }

  @Test
  void moreThanSixteenPartsAreSaidToBeUnreadAndScrubbedAllTheSame() throws Exception {
    try (URLClassLoader agents = loader();
        AutoCloseable agent = (AutoCloseable) open(agents, root, "shop", true)) {
      assertThat(agent).isNotNull();
      for (int i = 0; i < 18; i++) {
        try (Recorder part =
            Recorder.builder("part").trailBytes(64 * 1024).spanSlots(16).directory(root).open()) {
          part.breadcrumb(Level.INFO, "c", "hunter2 of part " + i);
        }
      }
    }
    Run run = Runs.under(root).list().get(0);
    Report report = run.report();
    assertThat(report.trail()).hasSize(16).first().asString().contains("of part 0");
    assertThat(report.findings().toString()).contains("parts are not read: count=2, limit=16");

    run.scrub(Redaction.standard().rule((key, text) -> text.replace("hunter2", "*******")));
    int boxes = 0;
    try (Stream<Path> parts = Files.list(run.directory().resolve("parts"))) {
      for (Path part : parts.toList()) {
        byte[] box = Files.readAllBytes(part.resolve("box"));
        assertThat(new String(box, StandardCharsets.ISO_8859_1)).doesNotContain("hunter2");
        boxes++;
      }
    }
    assertThat(boxes).isEqualTo(18);
  }

  @Test
  void offerOfAnotherProcessIsNotTaken() throws Exception {
    try (Recorder first = Recorder.builder("first").directory(root).open()) {
      System.setProperty("cairn.run.shared", "1:" + first.directory());
      try (Recorder second = Recorder.builder("second").directory(root).open()) {
        assertThat(second.runId()).isNotEqualTo(first.runId());
      }
    } finally {
      System.clearProperty("cairn.run.shared");
    }
  }

  /** Records in two class loaders and halts. */
  static final class Halt {
    public static void main(String[] args) throws Exception {
      Path root = Path.of(args[0]);
      begin(open(loader(), root, "shop", true), "GET /orders");
      Recorder recorder = Recorder.builder("application").directory(root).open();
      recorder.begin("charge card");
      recorder.breadcrumb(Level.INFO, "c", "by password hunter2");
      Runtime.getRuntime().halt(3);
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
