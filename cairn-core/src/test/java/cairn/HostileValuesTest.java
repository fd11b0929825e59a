package cairn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.format.CounterLayout;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Runs;
import cairn.storage.Region;
import java.io.IOException;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.RandomAccess;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Values that do their worst, in the calls that applications make: none reaches the caller, none
 * costs another value of the same call.
 */
class HostileValuesTest {
  @TempDir Path root;
  private Recorder recorder;

  @BeforeEach
  void open() {
    recorder = Recorder.builder("orders").directory(root).open();
  }

  @AfterEach
  void close() {
    recorder.close();
  }

  private Report report() throws IOException {
    return Runs.under(root).list().get(0).report();
  }

  /** Records it between two others, as breadcrumb and as scope field; returns what became of it. */
  private Object recorded(Object hostile) throws IOException {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("before", 1);
    data.put("hostile", hostile);
    data.put("after", List.of("x"));
    recorder.breadcrumb(Level.INFO, "c", "m", data);
    recorder.scope().extra("other", 2).extra("hostile", hostile).extra("last", 3);

    Report report = report();
    Breadcrumb crumb = report.trail().get(report.trail().size() - 1);
    assertThat(crumb.message()).isEqualTo("m");
    assertThat(crumb.data())
        .containsEntry("before", 1L)
        .containsEntry("after", List.of("x"))
        .containsOnlyKeys("before", "hostile", "after");
    Map<String, Object> extras = report.scope().extras();
    assertThat(extras).containsEntry("other", 2L).containsEntry("last", 3L);
    assertThat(extras.get("hostile")).isEqualTo(crumb.data().get("hostile"));
    assertThat(report.findings()).isEmpty();
    return extras.get("hostile");
  }

  private static <T> T thrown() {
    throw new IllegalStateException("hostile");
  }

  private static final String THREW = "<threw IllegalStateException>";

  @Test
  void cycleIsAPlaceholder() throws IOException {
    Map<String, Object> map = new HashMap<>();
    List<Object> list = new ArrayList<>(List.of(map));
    map.put("list", new AtomicReference<>(list));
    assertThat(recorded(map)).isEqualTo(Map.of("list", List.of("<cycle>")));
  }

  @Test
  void tenMillionLevelsAreCut() throws IOException {
    Object deep = "bottom";
    for (int i = 0; i < 10_000_000; i++) {
      deep = new AtomicReference<>(deep);
    }
    assertThat(recorded(deep)).isEqualTo("…");
  }

  /** A sequence as long as can be, which counts how much of it is read. */
  private static final class Endless implements CharSequence {
    long read;

    @Override
    public int length() {
      return 1 << 30;
    }

    @Override
    public char charAt(int index) {
      read++;
      return 'x';
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return thrown();
    }

    @Override
    public String toString() {
      return thrown();
    }
  }

  @Test
  void sequenceOfOneGigabyteIsCutAndNotRead() throws IOException {
    Endless endless = new Endless();
    assertThat(recorded(endless)).isEqualTo("x".repeat(8 * 1024 - 3) + "…");
    assertThat(endless.read).isLessThan(40_000);
  }

  @Test
  void endlessIterableIsCut() throws IOException {
    Iterable<Integer> endless =
        () ->
            new Iterator<>() {
              @Override
              public boolean hasNext() {
                return true;
              }

              @Override
              public Integer next() {
                return 7;
              }
            };
    assertThat((List<?>) recorded(endless)).hasSize(1_001).last().isEqualTo("…");
  }

  @Test
  void toStringThatThrowsIsAPlaceholder() throws IOException {
    Object bad =
        new Object() {
          @Override
          public String toString() {
            return thrown();
          }
        };
    assertThat(recorded(bad)).isEqualTo(THREW);
    assertThat(report().counters()).containsEntry("placeholders", 2L);
  }

  /** A list whose second element can't be had. */
  private static final class BadGet extends java.util.AbstractList<Object> implements RandomAccess {
    @Override
    public Object get(int index) {
      return index == 1 ? thrown() : index;
    }

    @Override
    public int size() {
      return 3;
    }
  }

  @Test
  void getThatThrowsCostsOneElement() throws IOException {
    assertThat(recorded(new BadGet())).isEqualTo(List.of(0L, THREW, 2L));
  }

  @Test
  void iteratorThatThrowsIsAPlaceholder() throws IOException {
    Iterable<Object> bad = HostileValuesTest::thrown;
    assertThat(recorded(bad)).isEqualTo(THREW);
    Map<String, Object> map =
        new AbstractMap<>() {
          @Override
          public Set<Map.Entry<String, Object>> entrySet() {
            return thrown();
          }
        };
    assertThat(recorded(map)).isEqualTo(THREW);
  }

  @Test
  void iteratorThatThrowsOnTheWayKeepsWhatItGave() throws IOException {
    List<Object> bad =
        new AbstractList<>() {
          @Override
          public Object get(int i) {
            return i == 2 ? thrown() : (Object) i;
          }

          @Override
          public int size() {
            return 5;
          }
        };
    assertThat(recorded(bad)).isEqualTo(List.of(0L, 1L, THREW, "…"));
  }

  @Test
  void dataThatCannotBeReadShowsWhy() throws IOException {
    Map<String, Object> bad =
        new AbstractMap<>() {
          @Override
          public Set<Map.Entry<String, Object>> entrySet() {
            return thrown();
          }
        };
    MemoryBox memory = new MemoryBox(16, 64 * 1024);
    memory.box.breadcrumb(Level.INFO, "c", "m", bad);
    assertThat(memory.report().trail().get(0).data()).isEqualTo(Map.of("…", THREW));
  }

  @Test
  void housekeeperOutlivesAnOutOfMemoryError() throws InterruptedException {
    AtomicBoolean fails = new AtomicBoolean();
    CountDownLatch nextBeat = new CountDownLatch(1);
    MemoryBox memory =
        new MemoryBox(
            16,
            64 * 1024,
            buffer ->
                new Region(buffer) {
                  @Override
                  public void putBytesPlain(int offset, byte[] source, int from, int length) {
                    if (fails.compareAndSet(true, false)) {
                      throw new OutOfMemoryError();
                    }
                    super.putBytesPlain(offset, source, from, length);
                    if (Thread.currentThread().getName().equals("cairn-housekeeper")) {
                      nextBeat.countDown();
                    }
                  }
                });
    fails.set(true);
    Housekeeper housekeeper =
        new Housekeeper(memory.box, null, null, new ShutdownWatch(memory.box.life), null, null);
    housekeeper.start();
    assertThat(nextBeat.await(30, TimeUnit.SECONDS)).isTrue();
    housekeeper.stop();
    assertThat(memory.box.counters.get(CounterLayout.BEAT_ERRORS)).isEqualTo(1);
  }

  @Test
  void getMessageThatThrowsCostsTheMessage() throws IOException {
    Exception bad =
        new Exception() {
          private static final long serialVersionUID = 1;

          @Override
          public String getMessage() {
            return thrown();
          }

          @Override
          public StackTraceElement[] getStackTrace() {
            return thrown();
          }
        };
    assertThat(recorded(bad))
        .isEqualTo(Map.of("type", bad.getClass().getName(), "message", THREW, "stack", THREW));
  }

  @Test
  void keyThatThrowsCostsTheKey() throws IOException {
    Object bad =
        new Object() {
          @Override
          public String toString() {
            return thrown();
          }
        };
    Map<Object, Object> map = new LinkedHashMap<>();
    map.put("a", 1);
    map.put(bad, 2);
    map.put("b", 3);
    assertThat(recorded(map)).isEqualTo(Map.of("a", 1L, THREW, 2L, "b", 3L));
  }

  @Test
  void formThatThrowsIsAPlaceholder() throws IOException {
    recorder.close();
    recorder =
        Recorder.builder("orders")
            .directory(root)
            .form(BadGet.class, value -> thrown())
            .form(Endless.class, Endless::length)
            .open();
    Report report;
    recorder.scope().extra("bad", new BadGet()).extra("length", new Endless());
    report =
        Runs.under(root).list().stream()
            .filter(run -> run.id().equals(recorder.runId()))
            .findFirst()
            .orElseThrow()
            .report();
    assertThat(report.scope().extras()).isEqualTo(Map.of("bad", THREW, "length", 1L << 30));
  }

  @Test
  void mapThatAnotherThreadChangesIsWellFormedAtEveryCall() throws Exception {
    Map<Object, Object> map = new HashMap<>();
    AtomicBoolean stop = new AtomicBoolean();
    CountDownLatch changing = new CountDownLatch(1);
    Thread other =
        new Thread(
            () -> {
              for (int i = 0; !stop.get(); i++) {
                map.put(i % 64, i);
                map.remove((i + 32) % 64);
                changing.countDown();
              }
            });
    other.start();
    changing.await();
    try {
      for (int i = 0; i < 2_000; i++) {
        recorder.breadcrumb(Level.INFO, "c", "m" + i, Map.of("map", map));
        recorder.scope().extra("map", map);
      }
    } finally {
      stop.set(true);
      other.join();
    }
    Report report = report();
    assertThat(report.findings()).isEmpty();
    assertThat(report.trail()).hasSize(2_000).allMatch(crumb -> crumb.data().containsKey("map"));
    assertThat(report.counters()).containsEntry("placeholders", 0L);
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void valueThatHangsMakesNobodyWaitButItsCaller() throws Exception {
    CountDownLatch hanging = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Object slow =
        new Object() {
          @Override
          public String toString() {
            hanging.countDown();
            try {
              goOn.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
            return "late";
          }
        };
    Thread caller = new Thread(() -> recorder.scope().extra("slow", Map.of("a", 1, "b", slow)));
    caller.start();
    hanging.await();
    // On this thread, with the other inside its call.
    recorder.scope().extra("slow", "meanwhile").extra("other", 1);
    recorder.breadcrumb(Level.INFO, "c", "meanwhile");
    try (OpenSpan span = recorder.begin("meanwhile")) {
      span.set("k", "v");
    }
    assertThat(report().scope().extras()).isEqualTo(Map.of("slow", "meanwhile", "other", 1L));
    assertThat(report().trail()).hasSize(1);
    goOn.countDown();
    caller.join();
    assertThat(report().scope().extras())
        .isEqualTo(Map.of("slow", Map.of("a", 1L, "b", "late"), "other", 1L));
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void messageOfAnUncaughtExceptionThatHangsDoesNotHoldUpTheEnd() throws Exception {
    CountDownLatch hanging = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    RuntimeException slow =
        new RuntimeException() {
          private static final long serialVersionUID = 1;

          @Override
          public String getMessage() {
            hanging.countDown();
            try {
              goOn.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
            return "late";
          }
        };
    MemoryBox memory = new MemoryBox(16, 64 * 1024);
    Thread dying = new Thread(() -> memory.box.life.uncaught(Thread.currentThread(), slow));
    dying.setDaemon(true);
    dying.start();
    hanging.await();
    memory.box.life.closing(LifeCycle.End.of("EXIT"), false);
    memory.box.life.clean();
    goOn.countDown();
    dying.join();
    assertThat(memory.report().toText()).contains("late");
  }

  @Test
  void uncaughtExceptionWhoseMessageThrowsIsNotedAllTheSame() {
    for (Throwable inside :
        new Throwable[] {
          new IllegalStateException(),
          new AssertionError(),
          new StackOverflowError(),
          new OutOfMemoryError()
        }) {
      MemoryBox memory = new MemoryBox(16, 64 * 1024);
      memory.box.life.uncaught(
          Thread.currentThread(),
          new Exception() {
            private static final long serialVersionUID = 1;

            @Override
            public String getMessage() {
              if (inside instanceof Error e) {
                throw e;
              }
              throw (RuntimeException) inside;
            }

            @Override
            public StackTraceElement[] getStackTrace() {
              throw new IllegalStateException();
            }
          });
      assertThat(memory.report().toText())
          .contains("<threw " + inside.getClass().getSimpleName() + ">");
    }
  }

  @Test
  void valueThatLogsAndOpensASpanIsRecordedAfterBoth() throws IOException {
    Object busy =
        new Object() {
          @Override
          public String toString() {
            recorder.breadcrumb(Level.INFO, "inner", "m", Map.of("k", List.of(1)));
            OpenSpan span = recorder.begin("inner");
            span.set("k", 1L);
            span.close();
            return "done";
          }
        };
    try (OpenSpan span = recorder.begin("outer")) {
      span.set("k", 2L);
      recorder.breadcrumb(Level.INFO, "outer", "m", Map.of("busy", busy));
      assertThat(report().trail())
          .extracting(Breadcrumb::category)
          .containsExactly("inner", "outer");
      assertThat(report().trail()).extracting(Breadcrumb::spanId).containsOnly(span.spanId());
      assertThat(report().openSpans()).hasSize(1);
    }
  }

  @Test
  void previousValueStaysWhereTheNewOneHasNoRoom() throws IOException {
    recorder.scope().extra("k", "old").tag("filler", "x".repeat(8_000));
    List<String> large = Collections.nCopies(4, "y".repeat(4_000));
    recorder.scope().extra("large", large).extra("k", large).extra("last", 1);

    Map<String, Object> extras = report().scope().extras();
    assertThat(extras).containsEntry("k", "old").containsEntry("last", 1L).containsKey("large");
    assertThat(report().counters()).containsEntry("scopeDropped", 1L);
  }

  @Test
  void fatalErrorIsThrownWhenTheRecordIsInTheBox() throws IOException {
    OutOfMemoryError fatal = new OutOfMemoryError("of the value");
    Object bad =
        new Object() {
          @Override
          public String toString() {
            throw fatal;
          }
        };
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("before", 1);
    data.put("bad", bad);
    data.put("after", 2);
    assertThatThrownBy(() -> recorder.breadcrumb(Level.INFO, "c", "m", data)).isSameAs(fatal);
    assertThatThrownBy(() -> recorder.scope().extra("e", data)).isSameAs(fatal);
    recorder.breadcrumb(Level.INFO, "c", "later");

    Map<String, Object> expected = new LinkedHashMap<>();
    expected.put("before", 1L);
    expected.put("bad", "<threw OutOfMemoryError>");
    expected.put("after", 2L);
    assertThat(report().trail()).extracting(Breadcrumb::message).containsExactly("m", "later");
    assertThat(report().trail().get(0).data()).isEqualTo(expected);
    assertThat(report().scope().extras()).isEqualTo(Map.of("e", expected));
  }

  @Test
  void errorsThatAreNotOfTheVirtualMachineArePlaceholders() throws IOException {
    for (Error error :
        new Error[] {new StackOverflowError(), new NoClassDefFoundError(), new AssertionError()}) {
      Object bad =
          new Object() {
            @Override
            public String toString() {
              throw error;
            }
          };
      assertThat(recorded(bad)).isEqualTo("<threw " + error.getClass().getSimpleName() + ">");
    }
    assertThat(recorded(Collections.nCopies(3, "fine"))).isEqualTo(List.of("fine", "fine", "fine"));
  }
}
