package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Evidence.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose an hs_err file is, and what the verdict makes of it. */
class CrashVerdictTest {
  private static final Path PLACE = Path.of("/srv/orders/hs_err_pid4711.log");

  /** The run's process; {@link BoxBuilder} says when. */
  private static final Instant STARTED =
      Instant.ofEpochMilli(BoxBuilder.START_WALL)
          .minusMillis(BoxBuilder.START_NANOS / 1_000_000 - 1_234_560);

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss uuuu", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final FakeHost host = new FakeHost();

  @TempDir private Path directory;

  @BeforeEach
  void machineThatNeverSlept() {
    host.bootedAt =
        Instant.ofEpochMilli(BoxBuilder.START_WALL).minusMillis(BoxBuilder.START_NANOS / 1_000_000);
  }

  private static Instant at(long millis) {
    return Instant.ofEpochMilli(BoxBuilder.START_WALL + millis);
  }

  private static BoxBuilder dead() {
    return BoxBuilder.box().beat(60_000);
  }

  private Verdict verdict(BoxBuilder box) throws IOException {
    return verdict(box, directory);
  }

  private Verdict verdict(BoxBuilder box, Path run) throws IOException {
    return new Judge(new Salvage(box.bytes(), "box", false), Liveness.DEAD, host, Traces.in(run))
        .verdict();
  }

  /** {@return a file of the corpus as if it were of that process} */
  private static String file(String sample, long pid, Instant crashed, Instant started) {
    Map<String, String> is = CrashCorpus.sample(sample).expected();
    Duration elapsed = Duration.between(started, crashed);
    return CrashCorpus.sample(sample)
        .text()
        .replace("pid=" + is.get("pid") + ",", "pid=" + pid + ",")
        .replace("si_pid: " + is.get("pid") + " ", "si_pid: " + pid + " ")
        .replaceAll(
            "Time: .* elapsed time: [0-9.]+",
            "Time: " + TIME.format(crashed) + " UTC elapsed time: " + elapsed.toMillis() / 1e3);
  }

  private void put(Path place, Instant modified, String text) {
    host.files.put(place, new HostFacts.HostFile(modified, text));
  }

  private static List<String> texts(Verdict verdict, Kind kind) {
    return verdict.evidence().stream()
        .filter(evidence -> evidence.kind() == kind)
        .map(Evidence::text)
        .toList();
  }

  private static void assertVerdict(Verdict verdict, Cause cause, Confidence confidence) {
    assertThat(verdict.cause()).as(verdict.headline() + verdict.evidence()).isEqualTo(cause);
    assertThat(verdict.confidence()).as(verdict.evidence().toString()).isEqualTo(confidence);
  }

  // What it says

  @Test
  void aWholeFileOfThisProcessIsCertain() throws IOException {
    put(PLACE, at(60_700), file("17-jni-read", 4711, at(60_500), STARTED));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .isEqualTo(
            "The JVM crashed (SIGSEGV in libfoo.so+0x11b8 Java_Native_read+0x0,"
                + " called from Native.read, on thread export-1)"
                + " at 14:01:00.000 UTC or later, see /srv/orders/hs_err_pid4711.log;"
                + " nothing was in flight");
    assertThat(texts(verdict, Kind.FOR))
        .contains(
            "it accessed the address 0x0000000000000028 (SEGV_MAPERR)",
            "the thread was JavaThread \"export-1\" _thread_in_native, in Native.read"
                + " < Native.lambda$main$0 < Native$$Lambda.run"
                + " < java.lang.Thread.run",
            "its pid, start and time are this run's");
  }

  @Test
  void aFileThatIsCutIsLikely() throws IOException {
    String text = file("17-jni-read", 4711, at(60_500), STARTED);
    put(PLACE, at(60_700), text.substring(0, text.length() / 2));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.LIKELY);
    assertThat(texts(verdict, Kind.MISSING)).anyMatch(missing -> missing.contains("disk was full"));
  }

  @Test
  void anEmptyFileOfThatTimeIsSaidAndDecidesNothing() throws IOException {
    put(PLACE, at(60_700), "");
    Verdict verdict = verdict(dead());
    assertThat(verdict.cause()).isEqualTo(Cause.KILLED);
    assertThat(texts(verdict, Kind.MISSING))
        .anyMatch(missing -> missing.contains("says nothing: disk full?"));
    put(PLACE, at(600_000), "");
    assertThat(texts(verdict(dead()), Kind.MISSING))
        .noneMatch(missing -> missing.contains("says nothing"));
  }

  @Test
  void aSignalByKillIsACrashAndItsSenderIsNamed() throws IOException {
    put(PLACE, at(60_700), file("17-kill-SEGV", 4711, at(60_500), STARTED));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .startsWith("The JVM crashed (SIGSEGV sent by kill from pid 10247 uid 0)");
    assertThat(texts(verdict, Kind.FOR))
        .contains("the signal was sent by kill: pid=10247, uid=0")
        .noneMatch(text -> text.contains("accessed"));
  }

  /** -XX:+AbortVMOnSafepointTimeout does that; the heading says "sent by kill" all the same. */
  @Test
  void aSignalThatTheJvmSentItselfIsNobodysKill() throws IOException {
    put(PLACE, at(60_700), file("17-safepoint-timeout", 4711, at(60_500), STARTED));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .startsWith(
            "The JVM crashed (SIGILL sent by the process itself in Crash.lambda$main$5,"
                + " on thread cruncher)");
  }

  @Test
  void nativeMemoryThatWasRefusedIsACrashInItsWords() throws IOException {
    put(PLACE, at(60_700), file("25-native-memory-mmap", 4711, at(60_500), STARTED));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .startsWith(
            "The JVM crashed for want of memory (native memory: 1052672 bytes for committing"
                + " reserved memory, on thread ");
  }

  @Test
  void crashOnOutOfMemoryErrorIsJavaOom() throws IOException {
    for (Map.Entry<String, String> entry :
        Map.of("17-heap-full", "Java heap space", "25-metaspace-full", "Metaspace").entrySet()) {
      put(PLACE, at(60_700), file(entry.getKey(), 4711, at(60_500), STARTED));
      Verdict verdict = verdict(dead());
      assertVerdict(verdict, Cause.JAVA_OOM, Confidence.CERTAIN);
      assertThat(verdict.headline())
          .startsWith(
              "The JVM ended itself for want of Java memory (OutOfMemory encountered: "
                  + entry.getValue()
                  + ", on thread main) at ");
    }
  }

  @Test
  void anInternalErrorIsSaidInItsWords() throws IOException {
    put(PLACE, at(60_700), file("25-guarantee-failed", 4711, at(60_500), STARTED));
    assertThat(verdict(dead()).headline())
        .startsWith(
            "The JVM crashed (Internal Error (objArrayKlass.cpp:437):"
                + " guarantee(oopDesc::is_oop_or_null(oa->obj_at(index))) failed: should be oop,"
                + " on thread VM Thread)");
  }

  @Test
  void whatWasBeingCompiledIsSaid() throws IOException {
    put(PLACE, at(60_700), file("17-while-compiling", 4711, at(60_500), STARTED));
    assertThat(texts(verdict(dead()), Kind.FOR))
        .contains("it was compiling C2: 505 595 b 4 java.util.HashMap::resize (356 bytes)");
  }

  @Test
  void everyFileOfTheCorpusMakesAHeadlineOfOneLine() throws IOException {
    for (CrashCorpus.Sample sample : CrashCorpus.all()) {
      put(PLACE, at(60_700), file(sample.name(), 4711, at(60_500), STARTED));
      Verdict verdict = verdict(dead());
      assertThat(verdict.cause()).as(sample.name()).isIn(Cause.NATIVE_CRASH, Cause.JAVA_OOM);
      assertThat(verdict.headline()).as(sample.name()).doesNotContain("\n").hasSizeLessThan(450);
    }
  }

  // Whose it is

  /** paketo-buildpacks/libjvm#403 and others: the pid is always 1, and the volume outlives it. */
  @Test
  void aFileOfAnOlderProcessOfTheSamePidIsRefused() throws IOException {
    BoxBuilder box = dead().identity("pid", 1L);
    Path place = Path.of("/srv/orders/hs_err_pid1.log");
    // Crashed a minute before this run began.
    put(place, at(-60_000), file("25-pid-1", 1, at(-60_000), at(-600_000)));
    assertThat(verdict(box).cause()).isEqualTo(Cause.KILLED);
    // Crashed just before this run began, and the file was copied since.
    put(place, at(60_000), file("25-pid-1", 1, at(-5_000), at(-600_000)));
    Verdict verdict = verdict(box);
    assertThat(verdict.cause()).isEqualTo(Cause.KILLED);
    assertThat(texts(verdict, Kind.AGAINST))
        .contains(place + " is another process's: that crash was before this run began");
  }

  /** A container that is started again at once: both within the second that the file names. */
  @Test
  void aFileOfTheProcessJustBeforeIsRefused() throws IOException {
    BoxBuilder box = BoxBuilder.box().identity("pid", 1L).beat(400);
    Path place = Path.of("/srv/orders/hs_err_pid1.log");
    put(place, at(-80), file("25-pid-1", 1, at(0), at(-2_000)));
    Verdict verdict = verdict(box);
    assertThat(verdict.cause()).isEqualTo(Cause.KILLED);
    assertThat(texts(verdict, Kind.AGAINST))
        .contains(place + " is another process's: that crash was before this run began");
    put(place, at(500), file("25-pid-1", 1, at(0), at(-2_000)));
    assertVerdict(verdict(box), Cause.NATIVE_CRASH, Confidence.CERTAIN);
  }

  @Test
  void aFileOfALaterProcessOfTheSamePidIsRefused() throws IOException {
    put(PLACE, at(118_100), file("25-pid-1", 4711, at(118_000), at(57_000)));
    Verdict verdict = verdict(dead());
    assertThat(verdict.cause()).isEqualTo(Cause.KILLED);
    assertThat(texts(verdict, Kind.AGAINST))
        .contains(PLACE + " is another process's: its JVM started after this run began");
  }

  /** Killed, started again and crashed, all in a second or two. */
  @Test
  void aFileOfTheProcessJustBehindIsRefused() throws IOException {
    BoxBuilder box = BoxBuilder.box().beat(400);
    // The first lived for longer than the second in all.
    put(PLACE, at(900), file("25-pid-1", 4711, at(0), at(-300)));
    Verdict verdict = verdict(box);
    assertThat(verdict.cause()).isEqualTo(Cause.KILLED);
    assertThat(texts(verdict, Kind.AGAINST))
        .contains(PLACE + " is another process's: its JVM lived for only 300 ms");
    // It did not; but then there is the second's directory.
    put(PLACE, at(1_950), file("25-pid-1", 4711, at(1_000), at(0)));
    assertVerdict(verdict(box), Cause.NATIVE_CRASH, Confidence.CERTAIN);
    Path run = Files.createDirectories(directory.resolve(BoxBuilder.RUN_ID));
    Path second = directory.resolve("20261130-140001-000-4711-0badcafe");
    Files.createDirectories(second);
    assertThat(texts(verdict(box, run), Kind.AGAINST))
        .contains(
            PLACE
                + " is another process's: a later run of that pid began before it was written: "
                + second.getFileName());
    // The next one begins only after a crash is written; and one of another container any time.
    Files.delete(second);
    for (String other :
        List.of(
            "20261130-140002-100-4711-0badcafe",
            "20261130-140000-300-4711-0badcafe",
            "20261130-140001-000-471-0badcafe",
            "20261130-140001-000-4711-x",
            "20269930-140001-000-4711-0badcafe")) {
      Files.createDirectories(directory.resolve(other));
    }
    assertVerdict(verdict(box, run), Cause.NATIVE_CRASH, Confidence.CERTAIN);
  }

  @Test
  void aFileOfAnotherContainerThatDiedAtThatTimeIsRefusedByItsStart() throws IOException {
    put(PLACE, at(60_700), file("25-pid-1", 4711, at(60_500), STARTED.minusSeconds(2)));
    Verdict verdict = verdict(dead());
    assertThat(verdict.cause()).isEqualTo(Cause.KILLED);
    assertThat(texts(verdict, Kind.AGAINST))
        .contains(PLACE + " is another process's: its JVM started before this run's process");
  }

  /** A shell that becomes the JVM keeps its start; so do containers that wait for a database. */
  @Test
  void aJvmThatStartedLongAfterItsProcessIsThisRuns() throws IOException {
    put(PLACE, at(60_700), file("25-pid-1", 4711, at(60_500), at(-1_000)));
    assertVerdict(verdict(dead()), Cause.NATIVE_CRASH, Confidence.CERTAIN);
  }

  @Test
  void aMachineThatSleptBeforeTheStartIsAllowedFor() throws IOException {
    // The ticks of the start count the sleep, the monotonic clock doesn't: 9000 s and 5000 s.
    BoxBuilder box = dead().identity("processStart", 900_000L);
    Instant opened = Instant.ofEpochMilli(BoxBuilder.START_WALL);
    host.bootedAt = opened.minusSeconds(9010);
    put(PLACE, at(60_700), file("25-pid-1", 4711, at(60_500), opened.minusSeconds(9)));
    assertVerdict(verdict(box), Cause.NATIVE_CRASH, Confidence.CERTAIN);
  }

  @Test
  void aClockThatWasSetWhileItRanIsAllowedFor() throws IOException {
    // Set forward by two hours: the beat has it, the identity not.
    BoxBuilder box = BoxBuilder.box().beat(60_000, 7_260_000);
    put(PLACE, at(7_260_700), file("25-pid-1", 4711, at(7_260_500), STARTED.plusSeconds(7200)));
    assertVerdict(verdict(box), Cause.NATIVE_CRASH, Confidence.CERTAIN);
  }

  @Test
  void aCrashThatTookMinutesToWriteIsNearEnoughAndNoMore() throws IOException {
    // Other threads, and with them the beat, went on while the file was written.
    BoxBuilder box = BoxBuilder.box().beat(300_000);
    put(PLACE, at(300_500), file("25-pid-1", 4711, at(190_000), STARTED));
    assertVerdict(verdict(box), Cause.NATIVE_CRASH, Confidence.CERTAIN);
    put(PLACE, at(300_500), file("25-pid-1", 4711, at(170_000), STARTED));
    assertThat(verdict(box).cause()).isEqualTo(Cause.KILLED);
    put(PLACE, at(361_000), file("25-pid-1", 4711, at(361_000), STARTED));
    assertThat(verdict(box).cause()).isEqualTo(Cause.KILLED);
  }

  @Test
  void aFileWithoutAPidOrATimeIsLikely() throws IOException {
    String text = file("17-jni-read", 4711, at(60_500), STARTED);
    put(PLACE, at(60_700), text.replace("Time: ", "When: "));
    assertVerdict(verdict(dead()), Cause.NATIVE_CRASH, Confidence.LIKELY);
    put(PLACE, at(60_700), text.substring(0, text.indexOf("#  SIGSEGV")));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.LIKELY);
    assertThat(verdict.headline())
        .startsWith("The JVM crashed (its hs_err file is cut off, likely)");
  }

  // Where it is

  @Test
  void placesAreTheConfiguredTheWorkingDirectoryTmpAndTheCopy() throws IOException {
    BoxBuilder box = dead().identity("errorFile", "logs/%%/%p-%p.log");
    Salvage salvage = new Salvage(box.bytes(), "box", false);
    assertThat(new CrashEvidence(salvage, host, directory).places())
        .containsExactly(
            Path.of("/srv/orders/logs/%/4711-4711.log"),
            PLACE,
            Path.of("/tmp/hs_err_pid4711.log"),
            directory.resolve("hs_err.log"));
  }

  @Test
  void percentSignsAreReplacedAsHotSpotDoesIt() {
    OptionalLong pid = OptionalLong.of(7);
    assertThat(CrashEvidence.withPid("a%%b%p%p-%x%", pid)).isEqualTo("a%b77-%x%");
    assertThat(CrashEvidence.withPid("%%p", pid)).isEqualTo("%p");
    assertThat(CrashEvidence.withPid("%%%p", pid)).isEqualTo("%7");
  }

  /** That is what HotSpot does when the first place can't be opened: it takes the next. */
  @Test
  void anErrorFileThatIsADirectoryMeansTheNextPlace() throws IOException {
    put(PLACE, at(60_700), file("17-jni-read", 4711, at(60_500), STARTED));
    assertVerdict(
        verdict(dead().identity("errorFile", "/var/crash/")),
        Cause.NATIVE_CRASH,
        Confidence.CERTAIN);
  }

  @Test
  void aStaleFileAtTheFirstPlaceDoesNotHideTheNext() throws IOException {
    put(PLACE, at(-60_000), file("25-pid-1", 4711, at(-60_000), at(-70_000)));
    put(
        Path.of("/tmp/hs_err_pid4711.log"),
        at(60_700),
        file("17-jni-read", 4711, at(60_500), STARTED));
    assertVerdict(verdict(dead()), Cause.NATIVE_CRASH, Confidence.CERTAIN);
  }

  @Test
  void theCopyOfAWitnessCountsWhenTheFileIsGone() throws IOException {
    Path source = directory.resolve("source");
    Files.writeString(source, file("17-jni-read", 4711, at(60_500), STARTED));
    Files.setLastModifiedTime(source, FileTime.from(at(60_700)));
    CrashCopy.copy(source, directory.resolve(CrashEvidence.COPY));
    HostFacts real = withRealFiles();
    Verdict verdict =
        new Judge(
                new Salvage(dead().bytes(), "box", false),
                Liveness.DEAD,
                real,
                Traces.in(directory))
            .verdict();
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.CERTAIN);
    assertThat(verdict.headline()).contains("SIGSEGV in libfoo.so").contains("hs_err.log");
  }

  @Test
  void aJvmThatWritesItToItsConsoleIsSaid() throws IOException {
    Verdict verdict = verdict(dead().identity("flags", List.of("ErrorFileToStderr")));
    assertThat(texts(verdict, Kind.MISSING))
        .contains("an hs_err file would have gone to its console, by -XX:+ErrorFileToStderr");
  }

  private HostFacts withRealFiles() {
    Map<Path, CrashFile.Dated> files = new HashMap<>();
    Path copy = directory.resolve(CrashEvidence.COPY);
    files.put(copy, new LocalHost().crashFile(copy));
    return new FakeHostWithFiles(host, files);
  }

  /** The fake's facts with the files of the disk. */
  private record FakeHostWithFiles(FakeHost host, Map<Path, CrashFile.Dated> crashFiles)
      implements HostFacts {
    @Override
    public Instant now() {
      return host.now();
    }

    @Override
    public String bootId() {
      return host.bootId();
    }

    @Override
    public Instant bootedAt() {
      return host.bootedAt();
    }

    @Override
    public String hostName() {
      return host.hostName();
    }

    @Override
    public OptionalLong nodeOomKills() {
      return host.nodeOomKills();
    }

    @Override
    public OptionalLong memoryBytes() {
      return host.memoryBytes();
    }

    @Override
    public @Nullable HostFile file(Path path) {
      return null;
    }

    @Override
    public CrashFile.@Nullable Dated crashFile(Path path) {
      return crashFiles.get(path);
    }
  }

  // Counters

  @Test
  void countersThatAreStillThereExcludeAHalt() throws IOException {
    Verdict verdict = verdict(dead());
    assertThat(verdict.headline()).startsWith("Killed (SIGKILL or Runtime.halt");
    assertThat(texts(verdict, Kind.MISSING)).anyMatch(text -> text.contains("Runtime.halt"));
    host.counters = PerfData.parse(PerfDataTest.file("25-g1"));
    verdict = verdict(dead());
    assertThat(verdict.cause()).isEqualTo(Cause.KILLED);
    assertThat(verdict.headline()).startsWith("Killed (SIGKILL or another signal");
    assertThat(texts(verdict, Kind.AGAINST))
        .anyMatch(text -> text.startsWith("Runtime.halt is excluded: "));
    assertThat(texts(verdict, Kind.MISSING)).noneMatch(text -> text.contains("Runtime.halt"));
    assertThat(texts(verdict, Kind.FOR))
        .anyMatch(text -> text.contains("a collection was under way: System.gc()"));
  }

  // Heap dumps

  @Test
  void aHeapDumpIsFoundWhereHotSpotWritesIt() throws IOException {
    BoxBuilder box = dead();
    assertThat(places(box)).containsExactly(Path.of("/srv/orders/java_pid4711.hprof"));
    assertThat(places(dead().identity("heapDumpPath", "dumps")))
        .containsExactly(
            Path.of("/srv/orders/dumps/java_pid4711.hprof"), Path.of("/srv/orders/dumps"));
    assertThat(places(dead().identity("heapDumpPath", "/d/%p.hprof")))
        .contains(Path.of("/d/%p.hprof"), Path.of("/d/4711.hprof"));
  }

  private static Iterable<Path> places(BoxBuilder box) throws IOException {
    return HeapDump.places(new Salvage(box.bytes(), "box", false));
  }

  @Test
  void aHeapDumpIsReadToItsEndRecord() throws IOException {
    byte[] head = "JAVA PROFILE 1.0.2\0....".getBytes(StandardCharsets.ISO_8859_1);
    byte[] whole = new byte[100];
    System.arraycopy(head, 0, whole, 0, head.length);
    whole[91] = 0x2C;
    Path file = Files.write(directory.resolve("a.hprof"), whole);
    assertThat(HeapDump.read(file).isComplete()).isTrue();
    assertThat(HeapDump.read(file).text()).endsWith("a.hprof: 100 B, complete");
    whole[99] = 1;
    Files.write(file, whole);
    assertThat(HeapDump.read(file).isComplete()).isFalse();
    Files.write(file, head);
    assertThat(HeapDump.read(file).isComplete()).isFalse();
    Files.writeString(file, "JAVA");
    assertThat(HeapDump.read(file)).isNull();
    assertThat(HeapDump.read(directory)).isNull();
    assertThat(HeapDump.read(directory.resolve("nothing"))).isNull();
  }
}
