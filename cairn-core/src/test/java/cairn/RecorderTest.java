package cairn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecorderTest {
  @TempDir Path root;
  private final List<Recorder> opened = new ArrayList<>();

  private Recorder open() {
    return open(Recorder.builder("orders").directory(root));
  }

  private Recorder open(Recorder.Builder builder) {
    Recorder recorder = builder.open();
    opened.add(recorder);
    return recorder;
  }

  @AfterEach
  void closeAll() {
    opened.forEach(Recorder::close);
    System.clearProperty("cairn.mode");
    System.clearProperty("cairn.durability");
  }

  private Report report() throws IOException {
    return Runs.under(root).list().get(0).report();
  }

  @Test
  void runIsFoundAsRunningAndThenAsCleanlyClosed() throws IOException {
    Recorder recorder =
        open(Recorder.builder("orders").release("1.4.2").environment("prod").directory(root));
    recorder.scope().user("42").tag("region", "eu").context("cart", Map.of("items", 3));
    recorder.breadcrumb(Level.INFO, "db", "SELECT orders", Map.of("rows", 3));
    OpenSpan span = recorder.begin("POST /orders");
    span.set("order.id", 17L);

    Run run = Runs.under(root).list().get(0);
    assertThat(run.id()).isEqualTo(recorder.runId());
    assertThat(run.directory().toRealPath()).isEqualTo(recorder.directory());
    assertThat(run.isRunning()).isTrue();
    Report living = run.report();
    assertThat(living.verdict().cause()).isEqualTo(Cause.RUNNING);
    assertThat(living.openSpans().get(0).attributes()).isEqualTo(Map.of("order.id", 17L));
    assertThat(living.openSpans().get(0).spanId()).isEqualTo(span.spanId());

    span.close();
    recorder.close();
    assertThat(run.isRunning()).isFalse();
    Report dead = run.report();
    assertThat(dead.verdict().cause()).isEqualTo(Cause.RETURNED);
    assertThat(dead.openSpans()).isEmpty();
    assertThat(dead.run().app()).isEqualTo("orders");
    assertThat(dead.run().release()).isEqualTo("1.4.2");
    assertThat(dead.run().environment()).isEqualTo("prod");
    assertThat(dead.run().pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(dead.run().durability()).isEqualTo("process");
    assertThat(dead.scope().user()).isEqualTo(Map.of("id", "42"));
    assertThat(dead.scope().contexts()).isEqualTo(Map.of("cart", Map.of("items", 3L)));
    assertThat(dead.trail()).extracting(Breadcrumb::message).containsExactly("SELECT orders");
    assertThat(dead.findings()).isEmpty();
  }

  @Test
  void readingARunOfThisProcessLeavesItsLockAlone() throws IOException {
    Recorder recorder = open();
    Run run = Runs.under(root).list().get(0);
    for (int i = 0; i < 3; i++) {
      assertThat(run.isRunning()).isTrue();
      run.report();
    }
    // Another process asks the kernel, not our table of held runs.
    assertThat(ChildJvm.run(Alive.class, recorder.directory().toString())).contains("alive=true");
    recorder.close();
    assertThat(ChildJvm.run(Alive.class, recorder.directory().toString())).contains("alive=false");
  }

  /** Looks at a run from another process. */
  static final class Alive {
    public static void main(String[] args) throws IOException {
      Path run = Path.of(args[0]);
      for (Run found : Runs.under(run.getParent().getParent())) {
        if (found.directory().toRealPath().equals(run)) {
          System.out.println("alive=" + found.isRunning());
        }
      }
    }
  }

  @Test
  void afterCloseNothingIsStoredAndNothingThrows() throws IOException {
    Recorder recorder = open();
    OpenSpan span = recorder.begin("still open");
    recorder.close();
    byte[] before = Files.readAllBytes(recorder.directory().resolve("box"));

    recorder.breadcrumb(Level.INFO, "late", "m", Map.of("a", 1));
    recorder.scope().tag("late", "x").clear();
    span.set("late", 1L).close();
    recorder.begin("late").set("a", "b").close();
    recorder.close();

    assertThat(Files.readAllBytes(recorder.directory().resolve("box"))).isEqualTo(before);
    assertThat(recorder.isEnabled()).isFalse();
    assertThat(recorder.mode()).isEqualTo("disabled: closed");
  }

  @Test
  void globalIsTheLastOpenedAndNeverNull() {
    assertThat(Recorder.global()).isNotNull();
    Recorder first = open();
    assertThat(Recorder.global()).isSameAs(first);
    Recorder second = open();
    assertThat(Recorder.global()).isSameAs(second);
  }

  @Test
  void recorderThatRecordsNothingTakesEveryCall() {
    System.setProperty("cairn.mode", "off");
    Recorder recorder = open();

    assertThat(recorder.isEnabled()).isFalse();
    assertThat(recorder.mode()).isEqualTo("disabled: switched off: cairn.mode=off");
    assertThat(recorder.directory()).isNull();
    assertThat(recorder.runId()).isNull();
    assertThatCode(
            () -> {
              recorder.breadcrumb(Level.INFO, "c", "m", Map.of("a", 1));
              recorder.scope().user("1").tag("a", "b").context("c", 1).extra("d", 2);
              recorder.scope().level(Level.INFO).transaction("t").fingerprint(List.of("f"));
              recorder.scope().trace("00", "11").clear();
              try (OpenSpan span = recorder.begin("x")) {
                span.set("a", "b").set("c", 1L).set("d", 2.0).set("e", true);
                assertThat(span.spanId()).isEqualTo("0000000000000000");
              }
              assertThat(recorder.awaitDurable(Duration.ofSeconds(1))).isFalse();
              recorder.close();
            })
        .doesNotThrowAnyException();
  }

  @Test
  void misuseOfTheBuilderThrowsAtOnceAndSaysTheLimit() {
    assertThatNullPointerException().isThrownBy(() -> Recorder.builder(null)).withMessage("app");
    assertThatIllegalArgumentException().isThrownBy(() -> Recorder.builder(" "));
    assertThatIllegalArgumentException().isThrownBy(() -> Recorder.builder("x".repeat(101)));
    Recorder.Builder builder = Recorder.builder("orders");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.trailBytes(100_000))
        .withMessageContaining("trailBytes=100000")
        .withMessageContaining("least=65536");
    assertThatIllegalArgumentException().isThrownBy(() -> builder.spanSlots(8));
    assertThatNullPointerException().isThrownBy(() -> builder.release(null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durability.bounded(0, Duration.ofMillis(1)));
    assertThatIllegalArgumentException().isThrownBy(() -> Durability.bounded(1, Duration.ZERO));
  }

  @Test
  void durabilityIsReadInTheFormThatItPrints() {
    for (Durability durability :
        List.of(
            Durability.process(),
            Durability.power(),
            Durability.bounded(20, Duration.ofMillis(100)))) {
      assertThat(Durability.parse(" " + durability.toString().toUpperCase(Locale.ROOT)))
          .isEqualTo(durability);
    }
    for (String form : List.of("bounded(20,100ms)", "bounded(20, 100 ms)", "bounded(20, pt0.1s)")) {
      assertThat(Durability.parse(form)).isEqualTo(Durability.bounded(20, Duration.ofMillis(100)));
    }
    assertThat(Durability.parse("bounded(2, 3 s)"))
        .isEqualTo(Durability.bounded(2, Duration.ofSeconds(3)));
    assertThat(Durability.parse("bounded(2, 1min)"))
        .isEqualTo(Durability.bounded(2, Duration.ofMinutes(1)));
    for (String bad : List.of("", "fast", "bounded", "bounded(20)", "bounded(a, PT1S)")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Durability.parse(bad))
          .withMessage(
              "durability is unknown: cairn.durability="
                  + bad
                  + " (use process, power or bounded(20, 100 ms))");
    }
    assertThatIllegalArgumentException().isThrownBy(() -> Durability.parse("bounded(0, PT1S)"));
  }

  @Test
  void durabilityOfASettingIsTakenUnlessTheBuilderHasOne() throws IOException {
    System.setProperty("cairn.durability", "bounded(5, PT1S)");
    open();
    assertThat(report().run().durability()).isEqualTo("bounded(5, PT1S)");

    System.setProperty("cairn.durability", "fast");
    // A typo must not cost the recording.
    try (Recorder recorder = open()) {
      assertThat(recorder.isEnabled()).isTrue();
    }
    assertThat(report().run().durability()).isEqualTo("process");
    assertThat(Recorder.builder("orders").durability(Durability.power()).toString())
        .contains("durability=power");
  }

  @Test
  void builderPrintsItsEffectiveValues() {
    assertThat(Recorder.builder("orders").release("1").directory(root).trailBytes(1 << 20))
        .hasToString(
            "Recorder.Builder{app=orders, release=1, environment=null, directory="
                + root
                + ", durability=process, trailBytes=1048576, scopeBytes=32768, spanSlots=1024, terminationMessage=null, shared=false, redaction=Redaction{standard}}");
  }

  @Test
  void unknownModeDisablesTheRecorderAndNamesTheChoices() {
    System.setProperty("cairn.mode", "fast");

    assertThat(open().mode())
        .isEqualTo("disabled: mode is unknown: cairn.mode=fast (use auto, mapped, copy or off)");
  }

  @Test
  void fileInPlaceOfTheRootDisablesTheRecorder() throws IOException {
    Path file = Files.writeString(root.resolve("file"), "not a directory");

    Recorder recorder = open(Recorder.builder("orders").directory(file));
    assertThat(recorder.mode()).startsWith("disabled: ").contains(file.toString());
    assertThat(file).hasContent("not a directory");
  }

  @Test
  void symbolicLinkInPlaceOfTheRootOrTheApplicationIsRefused() throws IOException {
    Path real = Files.createDirectory(root.resolve("real"));
    Path link = Files.createSymbolicLink(root.resolve("link"), real);
    assertThat(open(Recorder.builder("orders").directory(link)).mode())
        .contains("symbolic link", link.toString());

    Path other = Files.createDirectory(root.resolve("other"));
    Files.createSymbolicLink(other.resolve("orders"), real);
    assertThat(open(Recorder.builder("orders").directory(other)).mode()).contains("symbolic link");
    assertThat(real).isEmptyDirectory();
  }

  @Test
  void filesAreForTheirOwnerOnly() throws IOException {
    Recorder recorder = open(Recorder.builder("orders").directory(root.resolve("a").resolve("b")));
    List<String> modes = new ArrayList<>();
    Files.walkFileTree(
        root.resolve("a"),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes)
              throws IOException {
            modes.add(PosixFilePermissions.toString(Files.getPosixFilePermissions(dir)));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            modes.add(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            return FileVisitResult.CONTINUE;
          }
        });

    assertThat(recorder.isEnabled()).isTrue();
    assertThat(modes)
        .containsExactlyInAnyOrder(
            "rwx------",
            "rwx------",
            "rwx------",
            "rwx------",
            "rw-------",
            "rw-------",
            "rw-------");
  }

  @Test
  void applicationNameOfAnyBytesGetsADirectoryOfItsOwn() throws IOException {
    open(Recorder.builder("../shop ä/1").directory(root));

    Run run = Runs.under(root).list().get(0);
    assertThat(run.directory().getParent().getFileName()).hasToString("%2E.%2Fshop%20%C3%A4%2F1");
    assertThat(run.report().run().app()).isEqualTo("../shop ä/1");
  }

  @Test
  void recordingGoesOnWhenTheDirectoryIsDeleted() throws IOException {
    Recorder recorder = open();
    Files.delete(recorder.directory().resolve("box"));
    Files.delete(recorder.directory().resolve("lock"));
    Files.delete(recorder.directory().resolve("hooks"));
    Files.delete(recorder.directory());

    assertThatCode(
            () -> {
              recorder.breadcrumb(Level.INFO, "c", "m", Map.of("a", 1));
              recorder.begin("x").set("a", 1L).close();
              recorder.close();
            })
        .doesNotThrowAnyException();
  }

  @Test
  void copyModeRecordsTheSame() throws IOException {
    System.setProperty("cairn.mode", "copy");
    Recorder recorder = open();
    assertThat(recorder.mode()).isEqualTo("copy");
    recorder.breadcrumb(Level.INFO, "db", "m", Map.of("a", 1));
    recorder.begin("left open");
    recorder.close();

    Report report = report();
    assertThat(report.trail()).extracting(Breadcrumb::message).containsExactly("m");
    assertThat(report.openSpans()).hasSize(1);
    assertThat(report.run().more()).containsEntry("mode", "copy");
  }

  @Test
  void interruptedThreadOpensAndClosesAndKeepsItsInterrupt() {
    Thread.currentThread().interrupt();
    Recorder recorder = open();
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
    assertThat(recorder.mode()).isEqualTo("mapped");
    recorder.close();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void interruptedThreadsDoNotEndCopyMode() throws Exception {
    System.setProperty("cairn.mode", "copy");
    Recorder recorder = open();
    Thread.UncaughtExceptionHandler ours = Thread.getDefaultUncaughtExceptionHandler();
    Thread thread =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              ours.uncaughtException(Thread.currentThread(), new IllegalStateException("boom"));
            });
    thread.start();
    thread.join();
    recorder.breadcrumb(Level.INFO, "c", "after", null);
    recorder.close();

    assertThat(report().trail()).extracting(Breadcrumb::message).containsExactly("after");
    assertThat(report().counters()).containsEntry("copyErrors", 0L);
  }

  @Test
  void handlerForUncaughtExceptionsPassesOnAndIsTakenAwayAgain() throws Exception {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    AtomicReference<Throwable> seen = new AtomicReference<>();
    Thread.UncaughtExceptionHandler application = (thread, thrown) -> seen.set(thrown);
    Thread.setDefaultUncaughtExceptionHandler(application);
    try {
      Recorder recorder = open();
      IllegalStateException thrown = new IllegalStateException("boom");
      Thread thread =
          new Thread(
              () -> {
                throw thrown;
              });
      thread.start();
      thread.join();
      assertThat(seen.get()).isSameAs(thrown);
      recorder.close();
      assertThat(Thread.getDefaultUncaughtExceptionHandler()).isSameAs(application);
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  @Test
  void runIdsSortByStartTimeAndNameThePid() {
    String earlier = Identity.runId(1_700_000_000_123L, 4711, 0x1234567890ABCDEFL);
    String later = Identity.runId(1_700_000_000_124L, 1, 0);

    assertThat(earlier).isEqualTo("20231114-221320-123-4711-90abcdef");
    assertThat(later).isGreaterThan(earlier);
  }

  @Test
  void versionInTheBoxIsThatOfTheBuild() throws IOException {
    String pom = Files.readString(Path.of("pom.xml"));
    assertThat(pom).contains("<version>" + Version.TEXT + "</version>");
  }
}
