package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.Witness;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a run ends, in JVMs that really do. */
class ShutdownTest {
  @TempDir Path root;

  private Report endOf(String how) throws IOException {
    ChildJvm.run(Victim.class, root.toString(), how);
    return Runs.under(root).newestDead().orElseThrow().report();
  }

  @Test
  void mainThatReturnsIsACleanEnd() throws IOException {
    Report report = endOf("return");

    assertThat(report.verdict().cause()).isEqualTo(Cause.RETURNED);
    assertThat(report.trail()).extracting(Breadcrumb::message).containsExactly("working");
  }

  @Test
  void valueRemovedFromTheScopeIsErasedByAnOrderlyEnd() throws IOException {
    for (String how : List.of("return", "close-in-hook", "halt")) {
      ChildJvm.run(Victim.class, root.toString(), how);
      Path box = Runs.under(root).newestDead().orElseThrow().directory().resolve("box");

      // A halt is no orderly end: what it leaves shows that the others erased something.
      assertThat(Files.readString(box, StandardCharsets.ISO_8859_1).contains("value that went"))
          .as(how)
          .isEqualTo(how.equals("halt"));
    }
  }

  @Test
  void exitIsNamedWithTheThreadAndItsCaller() throws IOException {
    Report report = endOf("exit");

    assertThat(report.verdict().cause()).isEqualTo(Cause.EXIT);
    assertThat(report.toText()).contains("ShutdownTest$Victim").contains("leave");
  }

  @Test
  void exceptionThatEndsMainIsNoReturn() throws IOException {
    Report report = endOf("throw");

    assertThat(report.verdict().cause()).isEqualTo(Cause.UNCAUGHT);
    assertThat(report.verdict().headline()).contains("IllegalStateException");
  }

  @Test
  void heapThatIsFullToTheEndIsNamedWithTheThread() throws IOException {
    ChildJvm.run(
        List.of("-Xmx24m", "-XX:+UseG1GC"), Victim.class, root.toString(), "fill the heap");
    Report report = Runs.under(root).newestDead().orElseThrow().report();

    // There may be memory again for the hook, and then the end is a certain one.
    assertThat(report.verdict().cause()).isIn(Cause.JAVA_OOM, Cause.UNCAUGHT);
    assertThat(report.verdict().headline()).contains("OutOfMemoryError", "thread main");
  }

  @Test
  void haltIsKilledWithOneSpanOpen() throws IOException {
    Report report = endOf("halt");

    assertThat(report.verdict().cause()).isEqualTo(Cause.KILLED);
    assertThat(report.openSpans()).hasSize(1);
  }

  @Test
  void whatAnotherShutdownHookRecordsIsKeptAndTheEndStaysClean() throws IOException {
    Report report = endOf("hook");

    assertThat(report.trail()).extracting(Breadcrumb::message).contains("from a hook");
    assertThat(report.verdict().cause()).isEqualTo(Cause.EXIT);
    assertThat(report.findings()).isEmpty();
  }

  @Test
  void daemonThreadsThatRecordToTheEndDoNotSpoilACleanEnd() throws IOException {
    Report report = endOf("daemons");

    assertThat(report.verdict().cause()).isEqualTo(Cause.EXIT);
    assertThat(report.trail()).isNotEmpty();
  }

  @Test
  void recorderClosedByAHookKeepsTheReasonOfTheShutdown() throws IOException {
    assertThat(endOf("close-in-hook").verdict().cause()).isEqualTo(Cause.EXIT);
  }

  @Test
  void hookThatHangsIsNamedAndAKillInItIsNoOrderlyEnd() throws Exception {
    for (String how : List.of("hang", "close and hang")) {
      Process victim = ChildJvm.start(List.of(), Victim.class, root.toString(), how);
      try {
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(victim.getInputStream(), StandardCharsets.UTF_8));
        assertThat(lines.readLine()).isEqualTo("hanging");
        Run run = Runs.under(root).list().get(0);
        while (!run.report().toJson().contains("hanging-hook")) {
          assertThat(victim.isAlive()).isTrue();
          Thread.onSpinWait();
        }
        victim.destroyForcibly();
        assertThat(victim.waitFor(30, TimeUnit.SECONDS)).isTrue();
        Report report = run.report();
        assertThat(report.verdict().cause()).as(how).isEqualTo(Cause.STOP_TIMEOUT);
        assertThat(report.verdict().headline()).contains("in the shutdown hook hanging-hook");
        Report known = run.report(Witness.by("me").exitStatus(137));
        assertThat(known.verdict().cause()).isEqualTo(Cause.STOP_TIMEOUT);
        assertThat(known.verdict().confidence()).isIn(Confidence.CERTAIN, Confidence.LIKELY);
      } finally {
        victim.destroyForcibly();
      }
    }
  }

  @Test
  void exceptionOfMainIsNotForgottenWhenAnotherThreadFailsLater() throws Exception {
    Report report = endOf("main fails first");

    assertThat(report.verdict().cause()).isEqualTo(Cause.UNCAUGHT);
    assertThat(report.verdict().headline()).contains("no way on").doesNotContain("worker");
  }

  @Test
  void threadThatOnlyHasTheNameOfASignalHandlerIsAnExit() throws Exception {
    for (String name : List.of("SIGTERM handler", "DestroyJavaVM")) {
      assertThat(endOf(name).verdict().cause()).as(name).isEqualTo(Cause.EXIT);
    }
  }

  @Test
  void exitWithinAShutdownIsNotTakenForItsBeginning() throws Exception {
    Report report = endOf("exit in a hook");

    assertThat(report.verdict().headline()).contains("after the end of main");
    assertThat(report.toText()).doesNotContain("System.exit");
  }

  @Test
  void termSignalIsNamed() throws Exception {
    Process victim = ChildJvm.start(List.of(), Victim.class, root.toString(), "wait");
    try {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(victim.getInputStream(), StandardCharsets.UTF_8));
      assertThat(lines.readLine()).isEqualTo("ready");
      victim.destroy();
      assertThat(victim.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      victim.destroyForcibly();
    }
    Report report = Runs.under(root).newestDead().orElseThrow().report();
    assertThat(report.verdict().cause()).isEqualTo(Cause.SIGNAL_TERM);
    assertThat(report.toText()).contains("SIGTERM");
  }

  @Test
  void killIsKilledAndTheProcessWasRunningBefore() throws Exception {
    Process victim = ChildJvm.start(List.of(), Victim.class, root.toString(), "wait");
    try {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(victim.getInputStream(), StandardCharsets.UTF_8));
      assertThat(lines.readLine()).isEqualTo("ready");
      assertThat(Runs.under(root).list().get(0).isRunning()).isTrue();
      assertThat(Runs.under(root).newestDead()).isEmpty();
      victim.destroyForcibly();
      assertThat(victim.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      victim.destroyForcibly();
    }
    Report report = Runs.under(root).newestDead().orElseThrow().report();
    assertThat(report.verdict().cause()).isEqualTo(Cause.KILLED);
    assertThat(report.trail()).extracting(Breadcrumb::message).containsExactly("working");
    assertThat(report.openSpans()).hasSize(1);
  }

  /** Ends as it is told. */
  static final class Victim {
    private static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) throws Exception {
      Recorder recorder = Recorder.builder("victim").directory(Path.of(args[0])).open();
      recorder.breadcrumb(Level.INFO, "main", "working");
      recorder.begin("operation");
      recorder.scope().tag("gone", "value that went").tag("gone", null);
      switch (args[1]) {
        case "exit" -> leave();
        case "throw" -> throw new IllegalStateException("no way on");
        case "halt" -> Runtime.getRuntime().halt(2);
        case "hook" -> {
          CountDownLatch later = new CountDownLatch(1);
          Runtime.getRuntime()
              .addShutdownHook(
                  new Thread(
                      () -> {
                        await(later, 300);
                        recorder.breadcrumb(Level.INFO, "hook", "from a hook");
                      }));
          leave();
        }
        case "daemons" -> {
          for (int i = 0; i < 4; i++) {
            Thread thread =
                new Thread(
                    () -> {
                      while (true) {
                        recorder.breadcrumb(Level.INFO, "daemon", "on and on");
                      }
                    });
            thread.setDaemon(true);
            thread.start();
          }
          await(new CountDownLatch(1), 200);
          leave();
        }
        case "fill the heap" -> {
          while (true) {
            KEPT.add(new byte[1_000]);
          }
        }
        case "close-in-hook" -> {
          Runtime.getRuntime().addShutdownHook(new Thread(recorder::close));
          leave();
        }
        case "main fails first" -> {
          new Thread(
                  () -> {
                    await(new CountDownLatch(1), 500);
                    throw new IllegalArgumentException("worker");
                  })
              .start();
          throw new IllegalStateException("no way on");
        }
        case "SIGTERM handler", "DestroyJavaVM" -> {
          Thread thread = new Thread(Victim::leave, args[1]);
          thread.start();
          thread.join();
        }
        case "hang" -> hang(() -> {});
        case "close and hang" -> hang(recorder::close);
        case "exit in a hook" -> {
          Thread hook = new Thread(Victim::leave);
          Runtime.getRuntime().addShutdownHook(hook);
          // That hook never ends: it waits for the shutdown that waits for it.
          Thread halt =
              new Thread(
                  () -> {
                    await(new CountDownLatch(1), 300);
                    Runtime.getRuntime().halt(0);
                  });
          halt.setDaemon(true);
          halt.start();
        }
        case "wait" -> {
          System.out.println("ready");
          await(new CountDownLatch(1), 60_000);
        }
        default -> {}
      }
    }

    private static void hang(Runnable first) {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    first.run();
                    System.out.println("hanging");
                    await(new CountDownLatch(1), 60_000);
                  },
                  "hanging-hook"));
      leave();
    }

    private static void leave() {
      System.exit(7);
    }

    /** Waits out the time: nobody counts down. */
    private static void await(CountDownLatch latch, long millis) {
      try {
        if (latch.await(millis, TimeUnit.MILLISECONDS)) {
          throw new AssertionError();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
