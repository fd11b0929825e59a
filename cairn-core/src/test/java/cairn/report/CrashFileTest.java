package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import cairn.report.CrashCorpus.Sample;
import cairn.report.CrashFile.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CrashFileTest {
  private static final List<String> NEVER_WRONG =
      List.of("signal", "pc", "pid", "tid", "frame", "signalCode", "address", "senderPid", "time");

  static List<Sample> samples() {
    return CrashCorpus.all();
  }

  @ParameterizedTest
  @MethodSource("samples")
  void everythingInAFileIsFound(Sample sample) {
    assertThat(CrashCorpus.fields(sample.read())).isEqualTo(sample.expected());
  }

  @Test
  void theCorpusHasFilesOfBothVersionsAndOfEachKind() {
    assertThat(samples()).hasSizeGreaterThan(50);
    for (String version : List.of("17-", "25-")) {
      for (Kind kind :
          List.of(Kind.SIGNAL, Kind.INTERNAL_ERROR, Kind.NATIVE_MEMORY, Kind.JAVA_MEMORY)) {
        assertThat(samples())
            .anyMatch(sample -> sample.name().startsWith(version) && sample.read().kind == kind);
      }
    }
  }

  // Cut

  @ParameterizedTest
  @MethodSource("samples")
  void aFileThatIsCutSaysLessButNothingElse(Sample sample) {
    byte[] bytes = sample.bytes();
    for (int end = 0; end < bytes.length; end++) {
      if (end % 97 == 0 || bytes[end] == '\n' || (end > 0 && bytes[end - 1] == '\n')) {
        CrashFile file = CrashCorpus.read(Arrays.copyOf(bytes, end));
        assertLess(file, sample, "cut at " + end);
        if (file != null && file.isComplete && end < bytes.length - 1) {
          fail("complete: %s, cut at %d of %d", sample, end, bytes.length);
        }
      }
    }
  }

  /** The heading decides; each of its bytes matters. */
  @ParameterizedTest
  @MethodSource("samples")
  void aHeadingThatIsCutAnywhereSaysLessButNothingElse(Sample sample) {
    for (int end = 0; end < 1500; end++) {
      assertLess(CrashCorpus.read(Arrays.copyOf(sample.bytes(), end)), sample, "cut at " + end);
    }
  }

  @ParameterizedTest
  @MethodSource("samples")
  void aFileWhoseBeginningIsGoneSaysLessButNothingElse(Sample sample) {
    byte[] bytes = sample.bytes();
    for (int begin = 1; begin < bytes.length; begin += 97) {
      CrashFile file = CrashCorpus.read(Arrays.copyOfRange(bytes, begin, bytes.length));
      assertLess(file, sample, "from " + begin);
    }
  }

  private static void assertLess(@Nullable CrashFile file, Sample sample, String how) {
    if (file == null) {
      return;
    }
    Map<String, String> fields = CrashCorpus.fields(file);
    for (String name : NEVER_WRONG) {
      // Before the real one is read, a name of a thread that looks like it may be taken for it.
      boolean isMadeUp =
          sample.name().contains("name-with-lines")
              && List.of("signalCode", "senderPid", "senderUid").contains(name);
      String expected = sample.expected().get(name);
      // Plain: this is asked half a million times.
      if (fields.containsKey(name) && !isMadeUp && !fields.get(name).equals(expected)) {
        fail("%s, %s: %s is %s, not %s", sample, how, name, fields.get(name), expected);
      }
    }
    Kind expected = Kind.valueOf(sample.expected().get("kind"));
    // What may be missing is the line that says that it was the Java heap.
    boolean isDowngraded =
        file.kind == Kind.UNKNOWN
            || (file.kind == Kind.INTERNAL_ERROR && expected == Kind.JAVA_MEMORY);
    if (file.kind != expected && !isDowngraded) {
      fail("%s, %s: kind is %s, not %s", sample, how, file.kind, expected);
    }
  }

  // Changed on the way

  @ParameterizedTest
  @MethodSource("samples")
  void lineEndsOfWindowsChangeNothing(Sample sample) {
    assertThat(CrashCorpus.fields(CrashCorpus.read(sample.text().replace("\n", "\r\n"))))
        .isEqualTo(sample.expected());
  }

  @ParameterizedTest
  @MethodSource("samples")
  void whatIsBeforeAndBehindChangesNothing(Sample sample) {
    String before = "started\n#\n# pid=1, tid=1\nsiginfo: si_signo: 11 (SIGSEGV)\nEND.\n\u0000\n";
    String behind = "\nvm_info: x\nTime: y\n#  SIGBUS (0x7) at pc=0x1, pid=1, tid=1\n";
    assertThat(CrashCorpus.fields(CrashCorpus.read(before + sample.text() + behind)))
        .isEqualTo(sample.expected());
  }

  @ParameterizedTest
  @MethodSource("samples")
  void aSecondFileBehindItIsNotRead(Sample sample) {
    String other = CrashCorpus.sample("25-kill-BUS").text();
    assertThat(CrashCorpus.fields(CrashCorpus.read(sample.text() + "\n" + other)))
        .isEqualTo(sample.expected());
  }

  @ParameterizedTest
  @MethodSource("samples")
  void linesOfAMegabyteAreLeftOut(Sample sample) {
    String huge = "x".repeat(1 << 20) + ", pid=1, tid=1 \"[_thread_\n";
    String text = sample.text().replace("\n\nHost:", "\n" + huge + "\nHost:");
    assertThat(CrashCorpus.fields(CrashCorpus.read(text + huge))).isEqualTo(sample.expected());
  }

  @Test
  void damagedBytesNeverThrow() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (Sample sample : samples()) {
      for (int round = 0; round < 20; round++) {
        byte[] bytes = sample.bytes().clone();
        for (int i = 0; i < 1 + round * 20; i++) {
          int at = random.nextInt(round % 2 == 0 ? 2000 : bytes.length);
          bytes[at] = (byte) random.nextInt(256);
        }
        CrashFile file = CrashCorpus.read(bytes);
        if (file != null) {
          assertThat(file.crashedAt(Instant.EPOCH)).as("seed=%d", seed).isNotNull();
          file.startedAt(Instant.EPOCH);
          assertThat(CrashEvidence.headline(file, "")).as("seed=%d", seed).startsWith("The JVM");
        }
      }
    }
  }

  @Test
  void hostileFieldsNeverThrow() {
    String heading = "# A fatal error has been detected by the Java Runtime Environment:\n";
    for (String hostile :
        List.of(
            "#  SIG at pc=, pid=, tid=",
            "#  SIGSEGV (0xb) at pc=0x1, pid=99999999999999999999, tid=-1",
            "#  Internal Error (, pid=1",
            "#  pid= pid=",
            "# Native memory allocation bytes\n#  Out of Memory Error (x), pid=1, tid=1",
            "# Native memory allocation 1 bytes for \n# x, pid=1, tid=1",
            "#  x, pid=1\n\n---------------  S U M M A R Y\nTime: a b c d e elapsed time: x seconds",
            "#  x, pid=1\n\nTime: Mon Nov 31 25:61:61 2147483647 UTC elapsed time: 9999999999999 seconds",
            "#  x, pid=1\n\nTime:  elapsed time: 1.",
            "#  x, pid=1\n\n---------------  T H R E A D\nCurrent thread (0x1):  \"",
            "#  x, pid=1\n\n---------------  T H R E A D\nCurrent thread (0x1):  J \"\"[_thread_",
            "#  SIGX (0xb), pid=1\n\n---------------  T H R E A D\nsiginfo: (SIGX) si_code: (, si_pid: x, si_uid: ",
            "# Problematic frame:\n# \n#  x, pid=1",
            "# Problematic frame:\n# C  ][\n#  x, pid=1\n\n---------------  T H R E A D\nJava frames:\nj (\nJ")) {
      CrashFile file = CrashCorpus.read(heading + hostile + "\n");
      assertThat(file).as(hostile).isNotNull();
      file.crashedAt(Instant.EPOCH);
      file.startedAt(Instant.MAX);
      file.place();
      assertThat(CrashEvidence.headline(file, "")).as(hostile).startsWith("The JVM");
    }
  }

  @Test
  void otherFilesAreNone() {
    assertThat(CrashCorpus.read("")).isNull();
    assertThat(CrashCorpus.read("a diary\nA fatal error has been detected\n")).isNull();
    assertThat(CrashCorpus.read(new byte[100_000])).isNull();
  }

  @Test
  void readingEndsWhereTheFileFailsOrNeverEnds() {
    byte[] beginning = CrashCorpus.sample("17-kill-SEGV").bytes();
    InputStream broken =
        new InputStream() {
          private int at;

          @Override
          public int read() throws IOException {
            if (at == 3000) {
              throw new IOException("the disk is gone");
            }
            return beginning[at++];
          }
        };
    assertThat(CrashFile.read(broken).signal).isEqualTo("SIGSEGV");
    InputStream endless =
        new InputStream() {
          private long at;

          @Override
          public int read() {
            return at < beginning.length / 2 ? beginning[(int) at++] : at++ % 80 == 0 ? '\n' : 'x';
          }
        };
    assertThat(CrashFile.read(endless).pid).hasValue(10252);
  }

  // What follows

  @Test
  void anInjectedHeadingOrEndInAThreadNameChangesNothing() {
    for (String version : List.of("17", "25")) {
      CrashFile file = CrashCorpus.sample(version + "-thread-name-with-lines").read();
      assertThat(file.signal).isEqualTo("SIGSEGV");
      assertThat(file.isSent()).isFalse();
      assertThat(file.senderPid).isEmpty();
      assertThat(file.isComplete).isTrue();
    }
  }

  /** Registers may point to texts of the application. */
  @Test
  void aSiginfoBehindTheRegistersOrOfAnotherSignalIsNone() {
    String text = CrashCorpus.sample("17-jni-read").text();
    String sent = "siginfo: si_signo: 11 (SIGSEGV), si_code: 0 (SI_USER), si_pid: 6, si_uid: 0\n";
    String mapping = "Register to memory mapping:\n";
    assertThat(text).contains(mapping);
    CrashFile file = CrashCorpus.read(text.replace(mapping, mapping + sent));
    assertThat(file.signalCode).isEqualTo("SEGV_MAPERR");
    assertThat(file.isSent()).isFalse();
    file = CrashCorpus.read(text.replace("si_signo: 11 (SIGSEGV)", "si_signo: 7 (SIGBUS)"));
    assertThat(file.signalCode).isNull();
  }

  @Test
  void theMethodOfTheApplicationIsFoundHoweverDeepBelowTheJdks() {
    String frame = "j  sun.misc.Unsafe.putInt(JI)V+5 jdk.unsupported@17.0.15\n";
    String text = CrashCorpus.sample("17-unsafe-put-at-zero").text();
    CrashFile file = CrashCorpus.read(text.replace(frame, frame.repeat(30)));
    assertThat(file.javaFrames).hasSize(6).doesNotContain("Crash.put");
    assertThat(file.caller()).isEqualTo("Crash.put");
    assertThat(CrashCorpus.sample("17-in-code-of-c2").read().caller()).isNull();
  }

  @Test
  void timeIsInUtcOrTheZoneIsFoundFromTheFile() {
    String text = CrashCorpus.sample("17-kill-SEGV").text();
    Instant crashed = Instant.parse("2026-11-30T20:44:13Z");
    Instant modified = crashed.plusMillis(700);
    assertThat(CrashCorpus.read(text).crashedAt(Instant.EPOCH)).isEqualTo(crashed);
    CrashFile india = CrashCorpus.read(text.replace("20:44:13 2026 UTC", "20:44:13 2026 IST"));
    Instant there = modified.minus(Duration.ofMinutes(330));
    assertThat(india.crashedAt(there)).isEqualTo(crashed.minus(Duration.ofMinutes(330)));
    assertThat(india.crashedAt(modified)).isEqualTo(crashed);
    Instant copied = modified.plus(Duration.ofMinutes(7));
    assertThat(india.crashedAt(copied)).as("no zone explains it").isEqualTo(copied);
    assertThat(india.startedAt(there))
        .isEqualTo(crashed.minus(Duration.ofMinutes(330)).minusMillis(109));
  }

  @Test
  void theCopyWithoutSecretsSaysTheSame() throws IOException {
    for (Sample sample : samples()) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      CrashCopy.copy(new java.io.ByteArrayInputStream(sample.bytes()), out);
      Map<String, String> copied = CrashCorpus.fields(CrashCorpus.read(out.toByteArray()));
      assertThat(copied).as(sample.name()).isEqualTo(sample.expected());
      assertThat(out.toString(StandardCharsets.UTF_8)).doesNotContain("jvm_args", "Command Line");
    }
  }
}
