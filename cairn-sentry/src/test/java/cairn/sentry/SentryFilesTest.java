package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.Level;
import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Evidence;
import cairn.report.Finding;
import cairn.report.Report;
import cairn.report.ScopeSnapshot;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories that sentry-java wrote, whole and damaged. */
class SentryFilesTest {
  private static final Path BEFORE = Path.of("target", "sentry-before", "sentry.jar");
  private static final Instant FIRST = Instant.ofEpochMilli(SentryCache.FIRST_MILLIS);

  /** Of the breadcrumb before the last one. */
  private static final long DEATH = SentryCache.FIRST_MILLIS + 11_000;

  @TempDir Path temp;

  private Report read() throws IOException {
    return read(temp);
  }

  private static Report read(Path directory) throws IOException {
    List<SentryFiles> found = SentryFiles.read(directory);
    assertThat(found).hasSize(1);
    Report report = found.get(0).toReport();
    report.toText();
    report.toJson();
    return report;
  }

  private static List<String> warnings(Report report) {
    return report.findings().stream()
        .filter(finding -> finding.severity() != Finding.Severity.INFO)
        .map(finding -> finding.where() + ": " + finding.text())
        .toList();
  }

  private static List<String> infos(Report report) {
    return report.findings().stream()
        .filter(finding -> finding.severity() == Finding.Severity.INFO)
        .map(finding -> finding.where() + ": " + finding.text())
        .toList();
  }

  /** {@return the directory of the DSN} */
  private Path writeScope() {
    return Path.of(SentryCache.writeScope(temp.toString()));
  }

  private static Path write(Path directory, String name, String content) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, content);
  }

  // What the SDK writes

  private void assertScope(Report report, String environment) {
    assertThat(warnings(report)).isEmpty();
    ScopeSnapshot scope = report.scope();
    assertThat(scope.user())
        .isEqualTo(Map.of("id", "42", "email", "a@example.org", "data", Map.of("plan", "gold")));
    // The scope's own goes before the option.
    assertThat(scope.tags()).isEqualTo(Map.of("region", "eu", "host", "a"));
    assertThat(scope.extras()).isEqualTo(Map.of("note", "é \"quoted\"\n"));
    assertThat(scope.contexts())
        .containsEntry("cart", Map.of("items", 3L, "sum", 1.5))
        .containsEntry("sentry.request", Map.of("url", "http://shop/pay", "method", "POST"))
        .containsEntry("sentry.replay_id", SentryCache.REPLAY_ID)
        .hasSize(4);
    assertThat(SentryValues.object(scope.contexts().get("sentry.options")))
        .containsEntry("release", "shop@1.2.3+7")
        .containsEntry("dist", "7")
        .containsEntry("environment", "prod")
        .containsEntry("proguard_uuid", "e4f2d3c1-0000-4000-8000-000000000001")
        .containsEntry("replay_error_sample_rate", "0.5")
        .containsEntry("tags", Map.of("region", "us", "host", "a"))
        .containsKey("sdk");
    assertThat(scope.level()).isEqualTo(Level.WARNING);
    assertThat(scope.transaction()).isEqualTo("POST /pay");
    assertThat(scope.fingerprint()).containsExactly("a", "b");
    assertThat(scope.trace())
        .containsEntry("traceId", SentryCache.TRACE_ID)
        .containsEntry("spanId", SentryCache.SPAN_ID)
        .containsEntry("op", "http.server");

    assertThat(report.trail()).hasSize(10); // maxBreadcrumbs
    assertThat(report.trail().get(9))
        .isEqualTo(
            new Breadcrumb(
                9,
                FIRST.plusSeconds(11),
                Level.INFO,
                "db",
                "message 11",
                Map.of("rows", 11L, "sentry.type", "query"),
                null,
                null));

    assertThat(report.run().app()).isEqualTo("shop");
    assertThat(report.run().release()).isEqualTo("shop@1.2.3+7");
    assertThat(report.run().environment()).isEqualTo(environment);
    assertThat(report.run().id()).matches("[0-9a-f]{40}");
    assertThat(report.run().lastSeenAt()).isEqualTo(FIRST.plusSeconds(11));
    assertThat(report.run().more()).containsEntry("dist", "7");
    assertThat(report.verdict().cause()).isEqualTo(Cause.UNKNOWN);
    assertThat(report.verdict().confidence()).isEqualTo(Confidence.UNKNOWN);
  }

  @Test
  void allFieldsOfTheScopeAndTheOptionsAreRead() throws IOException {
    writeScope();

    assertScope(read(), "canary");
  }

  @Test
  void filesOfTheVersionBeforeWritesWereBatchedAreRead() throws Exception {
    assertThat(BEFORE).as("put there by the build").isRegularFile();
    URL[] path = {
      SentryCache.class.getProtectionDomain().getCodeSource().getLocation(), BEFORE.toUri().toURL()
    };
    try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
      Class<?> cache = loader.loadClass(SentryCache.class.getName());
      cache.getMethod("writeScope", String.class).invoke(null, temp.toString());
      cache
          .getMethod("writeEvent", String.class, long.class, boolean.class)
          .invoke(null, temp.toString(), DEATH, true);
      cache.getMethod("writeSession", String.class).invoke(null, temp.toString());
    } catch (InvocationTargetException e) {
      throw new AssertionError(e.getCause());
    }

    Report report = read();

    assertThat(warnings(report)).isEmpty();
    assertThat(report.run().more().get("sdk")).isEqualTo("sentry.java 8.51.0");
    assertThat(report.trail()).hasSize(10);
    assertThat(report.scope().user()).containsEntry("id", "42");
    assertThat(report.scope().trace()).containsEntry("traceId", SentryCache.TRACE_ID);
    assertThat(report.run().environment()).isEqualTo("prod");
    assertThat(infos(report))
        .anyMatch(text -> text.contains("java.lang.IllegalStateException: odd"));
    assertThat(report.run().more()).containsKey("session");
  }

  @Test
  void theDirectoryOfADsnAndTheFoldersInItCanBeGivenThemselves() throws IOException {
    Path dsn = writeScope();

    assertScope(read(dsn), "canary");
    Report scope = read(dsn.resolve(".scope-cache"));
    assertThat(scope.trail()).hasSize(10);
    assertThat(scope.run().id()).isEqualTo(dsn.getFileName().toString());
    assertThat(scope.run().release()).isNull();
    Report options = read(dsn.resolve(".options-cache"));
    assertThat(options.run().release()).isEqualTo("shop@1.2.3+7");
    assertThat(options.toJson()).doesNotContain("\"trail\"", "\"user\"");
  }

  @Test
  void aFolderIsKnownByItsFilesUnderAnotherNameToo() throws IOException {
    Path dsn = writeScope();
    Path copy = Files.move(dsn.resolve(".scope-cache"), temp.resolve("copy"));

    assertThat(read(copy).trail()).hasSize(10);
  }

  @Test
  void anOutboxCanBeGivenItself() throws IOException {
    SentryCache.writeEvent(temp.resolve("cache").toString(), DEATH, true);
    Path outbox = Files.createDirectories(temp.resolve("outbox"));
    Files.copy(anEnvelope(temp.resolve("cache")), outbox.resolve("abc.envelope"));

    assertThat(infos(read(outbox))).anyMatch(text -> text.startsWith("abc.envelope: envelope was"));
  }

  @Test
  void eachDsnHasAReportTheNewestFirst() throws IOException {
    Path older = Files.createDirectories(temp.resolve("a".repeat(40)));
    Path newer = Files.createDirectories(temp.resolve("b".repeat(40)));
    Files.createDirectories(temp.resolve("c".repeat(40)));
    write(older, "last_crash", "2026-11-30T10:00:00.000Z");
    write(newer, "last_crash", "2026-11-30T11:00:00.000Z");

    List<SentryFiles> found = SentryFiles.read(temp);

    assertThat(found)
        .extracting(SentryFiles::directory)
        .containsExactly(newer.toRealPath(), older.toRealPath());
  }

  @Test
  void aFieldThatWasNotSetIsNoneAndOneOfAMissingScopeIsUnknown() throws IOException {
    write(temp, ".scope-cache/level.json", "\"error\"");
    assertThat(read().toJson())
        .contains(
            "\"trail\":[]", "\"user\":{}", "\"tags\":{}", "\"fingerprint\":[]", "\"trace\":{}");

    write(temp.resolve("other"), "session.json", "{\"status\":\"ok\"}");
    assertThat(read(temp.resolve("other")).toJson())
        .contains("\"scope\":{}")
        .doesNotContain("\"trail\"");
  }

  @Test
  void nothingIsChangedOrLocked() throws IOException {
    Path dsn = writeScope();
    SentryCache.writeEvent(temp.toString(), DEATH, false);
    write(dsn, ".scope-cache/tags.json", "{\"torn");
    Map<String, String> before = fingerprint();
    Path trail = dsn.resolve(".scope-cache/breadcrumbs.json");
    try (RandomAccessFile file = new RandomAccessFile(trail.toFile(), "rw");
        FileLock lock = file.getChannel().lock()) {
      assertThat(lock.isValid()).isTrue();
      assertThat(read().trail()).hasSize(10);
    }

    assertThat(fingerprint()).isEqualTo(before);
  }

  private Map<String, String> fingerprint() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(temp)) {
      for (Path path : paths.toList()) {
        FileTime time = Files.getLastModifiedTime(path);
        int hash = Files.isRegularFile(path) ? Arrays.hashCode(Files.readAllBytes(path)) : 0;
        files.put(path.toString(), time + " " + hash);
      }
    }
    return files;
  }

  // Where nothing is

  @Test
  void aMissingDirectoryAFileAndAnEmptyDirectoryAreRefused() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));

    assertThatThrownBy(() -> SentryFiles.read(temp.resolve("none")))
        .isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> SentryFiles.read(file)).isInstanceOf(NotDirectoryException.class);
    assertThatThrownBy(() -> SentryFiles.read(temp))
        .isInstanceOf(IOException.class)
        .hasMessage("no files of sentry-java: dir=" + temp);
  }

  // Torn fields

  /** A field is emptied, then written in pieces: after kill -9 it is empty, or begins only. */
  @Test
  void aFieldThatIsTornAnywhereCostsNoOtherAndKeepsWhatIsBefore() throws IOException {
    Path dsn = writeScope();
    Path scope = dsn.resolve(".scope-cache");
    Files.delete(scope.resolve("breadcrumbs.json"));
    for (String field : FieldFiles.SCOPE) {
      Path file = scope.resolve(field + ".json");
      if (field.equals("breadcrumbs")) {
        continue;
      }
      byte[] whole = Files.readAllBytes(file);
      for (int size = 0; size < whole.length; size++) {
        Files.write(file, Arrays.copyOf(whole, size));
        Report report = read(scope);
        assertThat(warnings(report))
            .singleElement()
            .asString()
            .startsWith(field + ".json: ")
            .contains("offset=");
        if (!field.equals("tags")) {
          assertThat(report.scope().tags()).isEqualTo(Map.of("region", "eu"));
        }
      }
      Files.write(file, whole);
    }
  }

  @Test
  void aTornFieldOfWhichNothingIsSoundIsUnknownAndNotNone() throws IOException {
    write(temp, ".scope-cache/user.json", "");
    write(temp, ".scope-cache/tags.json", "{\"a\":\"b");

    Report report = read();

    assertThat(report.toJson()).doesNotContain("\"user\"", "\"tags\"").contains("\"extras\":{}");
    assertThat(warnings(report))
        .containsExactly(
            ".scope-cache/user.json: file is empty: offset=0 (its writer died after it had emptied"
                + " it, or the disk was full)",
            ".scope-cache/tags.json: value is torn or damaged: text is cut, offset=5, size=7,"
                + " entries before it=0");
  }

  @Test
  void aTornFieldKeepsTheEntriesBeforeTheDamage() throws IOException {
    StringBuilder contexts = new StringBuilder("{\"large\":{");
    for (int i = 0; i < 2_000; i++) {
      contexts
          .append(i == 0 ? "" : ",")
          .append("\"key")
          .append(i)
          .append("\":\"")
          .append("v".repeat(100))
          .append('"');
    }
    // As the SDK leaves it when killed: whole blocks of 8 KiB.
    write(temp, ".scope-cache/contexts.json", contexts.substring(0, 8192 * 5));

    Report report = read();

    Map<String, Object> large = SentryValues.object(report.scope().contexts().get("large"));
    assertThat(large).hasSizeGreaterThan(300).containsEntry("key0", "v".repeat(100));
    assertThat(warnings(report)).singleElement().asString().contains("size=40960");
  }

  @ParameterizedTest
  @ValueSource(strings = {"user", "tags", "extras", "contexts", "request", "trace", "level"})
  void aFieldOfAnotherKindIsAFinding(String field) throws IOException {
    write(temp, ".scope-cache/" + field + ".json", "[17]");

    Report report = read();

    assertThat(warnings(report))
        .containsExactly(
            ".scope-cache/"
                + field
                + ".json: value is of another kind than the SDK writes: offset=0");
  }

  @Test
  void aFileThatIsNotOfTheScopeIsNamed() throws IOException {
    write(temp, ".scope-cache/other.bin", "x");

    assertThat(infos(read()))
        .containsExactly(".scope-cache/other.bin: file is unknown to this version and not read");
  }

  @Test
  void nothingOfTheFilesReachesATerminalAsItIs() throws IOException {
    write(temp, ".scope-cache/user.json", "{\"id\":\"\\u001b[2J\\u202e\"}");
    write(temp, "session.json", "{\"status\":\"\\u001b[31m\",\"timestamp\":\"\\u001b\"}");

    Report report = read();

    assertThat(report.toText() + report.toJson()).doesNotContain("\u001b", "\u202e");
  }

  // Envelopes

  private static Path anEnvelope(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.toString().endsWith(".envelope")).findFirst().orElseThrow();
    }
  }

  @Test
  void anEnvelopeThatWasNotSentIsNamedWithWhatItHolds() throws IOException {
    writeScope();
    SentryCache.writeEvent(temp.toString(), DEATH, true);

    Report report = read();

    assertThat(warnings(report)).isEmpty();
    assertThat(infos(report))
        .singleElement()
        .asString()
        .matches(
            "\\w+\\.envelope: envelope was not sent: event, id=\\w{32}, at="
                + Instant.ofEpochMilli(DEATH)
                + ", size=\\d+: java.lang.IllegalStateException: odd");
    assertThat(report.scope().user()).containsEntry("id", "42");
    assertThat(report.run().host()).isEqualTo("web-1");
  }

  /** On a JVM nothing registers the observer that writes the scope: the event has it. */
  @Test
  void withoutAScopeThatOfTheNewestEventIsReported() throws IOException {
    SentryCache.writeEvent(temp.toString(), DEATH - 5_000, true);
    SentryCache.writeEvent(temp.toString(), DEATH, false);

    Report report = read();

    assertThat(report.scope().user()).isEqualTo(Map.of("id", "7"));
    assertThat(report.scope().tags()).isEqualTo(Map.of("from", "event"));
    assertThat(report.trail())
        .extracting(Breadcrumb::message)
        .containsExactly("message 0", "message 1");
    assertThat(report.run().release()).isEqualTo("other@2.0");
    assertThat(report.run().app()).isEqualTo("other");
    assertThat(report.run().environment()).isEqualTo("test");
    assertThat(infos(report)).anyMatch(text -> text.contains("there is no .scope-cache"));
    assertThat(report.uncaught().type()).isEqualTo("java.lang.IllegalStateException");
    assertThat(report.uncaught().message()).isEqualTo("boom");
    assertThat(report.verdict().cause()).isEqualTo(Cause.UNCAUGHT);
    assertThat(report.verdict().confidence()).isEqualTo(Confidence.POSSIBLE);
    assertThat(report.verdict().headline())
        .isEqualTo(
            "Possibly ended by an uncaught exception at "
                + Instant.ofEpochMilli(DEATH)
                + ": java.lang.IllegalStateException: boom");
  }

  @Test
  void anEnvelopeThatIsCutAnywhereIsAFindingAndItsEventIsKeptAsFarAsItGoes() throws IOException {
    SentryCache.writeEvent(temp.toString(), DEATH, false);
    Path envelope = anEnvelope(temp);
    byte[] whole = Files.readAllBytes(envelope);
    int withTimestamp = new String(whole, StandardCharsets.UTF_8).indexOf("\"exception\"");
    for (int size = 0; size < whole.length - 1; size++) {
      Files.write(envelope, Arrays.copyOf(whole, size));
      Report report = read();
      assertThat(warnings(report))
          .as("size %d", size)
          .isNotEmpty()
          .allMatch(text -> text.contains(".envelope: "));
      if (size > withTimestamp) {
        assertThat(report.run().lastSeenAt()).isEqualTo(Instant.ofEpochMilli(DEATH));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{} | envelope has no item: offset=2",
        "x | envelope header is damaged: unexpected byte 0x78, offset=0",
        "[] | envelope header is no object: offset=0",
        "{}\\nx | item header is damaged: unexpected byte 0x78, offset=3",
        "{}\\n{\"type\":\"event\",\"length\":-5}\\n{} | item length is negative: offset=3, length=-5",
        "{}\\n{\"type\":\"event\",\"length\":9999999999}\\n{} | item is cut: offset=3, type=event, length=9999999999, there=2",
        "{}\\n{\"type\":\"event\",\"length\":2}\\n{}x | item is not followed by a line end: offset=33",
        "{}\\n{\"type\":\"event\"}\\n{\"a | event is damaged: text is cut, offset=18",
      })
  void anEnvelopeThatIsDamagedIsAFindingWithAnOffset(String content, String finding)
      throws IOException {
    write(temp, "a.envelope", content.replace("\\n", "\n"));

    assertThat(warnings(read())).anyMatch(text -> text.startsWith("a.envelope: " + finding));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}\n{\"type\":\"attachment\",\"length\":0}\n",
        "{}\n{\"type\":\"attachment\",\"length\":0}\n\n",
        "{}\n{\"type\":\"session\"}\n{}",
        "{}\n{\"type\":\"session\"}\n{}\n{\"type\":\"new\",\"length\":3}\n\n\n\n\n",
      })
  void anEnvelopeInAnyFormThatIsAllowedIsSound(String content) throws IOException {
    write(temp, "a.envelope", content);

    assertThat(warnings(read())).isEmpty();
  }

  @Test
  void aLargeAttachmentIsNotReadIntoMemory() throws IOException {
    Path envelope = temp.resolve("a.envelope");
    try (RandomAccessFile file = new RandomAccessFile(envelope.toFile(), "rw")) {
      long length = 3L << 30; // sparse
      file.write(
          ("{}\n{\"type\":\"attachment\",\"length\":" + length + "}\n")
              .getBytes(StandardCharsets.US_ASCII));
      file.setLength(file.getFilePointer() + length);
      file.seek(file.length());
      file.write("\n{\"type\":\"session\",\"length\":2}\n{}".getBytes(StandardCharsets.US_ASCII));
    }

    Report report = read();

    assertThat(warnings(report)).isEmpty();
    assertThat(infos(report)).singleElement().asString().contains("attachment, session");
  }

  /** sentry-java's issue 2902: what came second under one id overwrote the first. */
  @Test
  void twoEnvelopesOfOneEventAreBothNamed() throws IOException {
    SentryCache.writeEvent(temp.toString(), DEATH, false);
    Path envelope = anEnvelope(temp);
    Files.copy(envelope, envelope.resolveSibling("again.envelope"));

    assertThat(infos(read())).filteredOn(text -> text.contains("was not sent")).hasSize(2);
  }

  /** sentry-java's issues 4921 and 4936: gigabytes of envelopes, some of them months old. */
  @Test
  void oldAndManyEnvelopesAreReadWithoutHoldingThem() throws IOException {
    for (int i = 0; i < 200; i++) {
      String event =
          "{\"timestamp\":\"2026-0"
              + (1 + i % 9)
              + "-01T00:00:00Z\",\"message\":\"m"
              + i
              + "\",\"extra\":{\"large\":\""
              + "x".repeat(100_000)
              + "\"}}";
      write(
          temp,
          i + ".envelope",
          "{}\n{\"type\":\"event\",\"length\":" + event.length() + "}\n" + event);
    }

    Report report = read();

    assertThat(report.run().lastSeenAt()).isEqualTo(Instant.parse("2026-09-01T00:00:00Z"));
    assertThat(warnings(report)).isEmpty();
    assertThat(infos(report))
        .filteredOn(text -> text.contains("was not sent"))
        .first()
        .asString()
        .contains("at=2026-09-01T00:00:00Z");
  }

  @Test
  void moreEnvelopesThanAreListedAreCounted() throws IOException {
    for (int i = 0; i < 60; i++) {
      write(temp, i + ".envelope", "{}\n");
    }

    assertThat(infos(read()))
        .hasSize(51)
        .last()
        .isEqualTo("directory: more envelopes were not sent: count=10, listed=50");
  }

  // Sessions and markers

  private void assertVerdict(Cause cause, Confidence confidence, String evidence)
      throws IOException {
    Report report = read();
    assertThat(report.verdict().cause()).isEqualTo(cause);
    assertThat(report.verdict().confidence()).isEqualTo(confidence);
    assertThat(report.verdict().evidence())
        .extracting(Evidence::text)
        .anyMatch(t -> t.contains(evidence));
  }

  @Test
  void aCrashMarkerIsAnUncaughtExceptionPossibly() throws IOException {
    write(temp, "last_crash", "2026-12-01T03:36:47.588Z");

    assertVerdict(
        Cause.UNCAUGHT, Confidence.POSSIBLE, "last_crash is there at 2026-12-01T03:36:47.588Z");
    assertThat(read().run().lastSeenAt()).isEqualTo(Instant.parse("2026-12-01T03:36:47.588Z"));
  }

  @Test
  void aNativeCrashMarkerIsANativeCrashPossibly() throws IOException {
    write(temp, ".sentry-native/last_crash", "2026-12-01T03:36:47Z\n");

    assertVerdict(Cause.NATIVE_CRASH, Confidence.POSSIBLE, ".sentry-native/last_crash is there");
  }

  @Test
  void aCrashMarkerOfBeforeWhatCameLaterSaysNothing() throws IOException {
    writeScope();
    Path dsn = SentryFiles.read(temp).get(0).directory();
    write(dsn, "last_crash", FIRST.toString());

    assertVerdict(
        Cause.UNKNOWN, Confidence.UNKNOWN, "but the files go on until " + FIRST.plusSeconds(11));
  }

  @Test
  void aCrashMarkerWithoutATimeIsOneAllTheSame() throws IOException {
    write(temp, "last_crash", "\u0000\u0000");

    assertVerdict(Cause.UNCAUGHT, Confidence.POSSIBLE, "last_crash is there");
    assertThat(warnings(read()))
        .containsExactly("last_crash: crash marker has no time: offset=0, size=2");
  }

  @Test
  void aStartupCrashIsEvidence() throws IOException {
    write(temp, "outbox/startup_crash", "");
    write(temp, "last_crash", "2026-12-01T03:36:47.588Z");

    assertVerdict(
        Cause.UNCAUGHT,
        Confidence.POSSIBLE,
        "outbox/startup_crash is there: a crash within seconds");
  }

  @ParameterizedTest
  @CsvSource({
    "crashed, UNCAUGHT, POSSIBLE",
    "abnormal, KILLED, POSSIBLE",
    "ok, UNKNOWN, UNKNOWN",
    "exited, UNKNOWN, UNKNOWN",
    "other, UNKNOWN, UNKNOWN"
  })
  void aSessionSaysAsMuchAsItsStatus(String status, Cause cause, Confidence confidence)
      throws IOException {
    write(
        temp,
        "session.json",
        "{\"sid\":\"1\",\"status\":\""
            + status
            + "\",\"timestamp\":\"2026-12-01T03:36:47.588Z\","
            + "\"abnormal_mechanism\":\"anr\"}");

    assertVerdict(cause, confidence, "session.json has the session status=" + status);
  }

  @Test
  void theSessionThatTheSdkWroteIsRead() throws IOException {
    SentryCache.writeSession(temp.toString());

    Report report = read();

    assertThat(SentryValues.object(report.run().more().get("session")))
        .containsEntry("status", "ok");
    assertVerdict(Cause.UNKNOWN, Confidence.UNKNOWN, "never ended");
  }

  @Test
  void theSessionOfTheRunBeforeIsNoCause() throws IOException {
    write(temp, "previous_session.json", "{\"status\":\"crashed\"}");

    assertVerdict(Cause.UNKNOWN, Confidence.UNKNOWN, "previous_session.json is of the run before");
  }

  @Test
  void aSessionThatIsTornIsReadAsFarAsItGoes() throws IOException {
    write(temp, "session.json", "{\"status\":\"crashed\",\"timest");

    assertVerdict(Cause.UNCAUGHT, Confidence.POSSIBLE, "status=crashed");
    assertThat(warnings(read()))
        .containsExactly("session.json: session is torn or damaged: text is cut, offset=20");
  }

  @Test
  void secondsSince1970AreATimeToo() throws IOException {
    write(temp, "session.json", "{\"status\":\"crashed\",\"timestamp\":1796000000.5}");

    assertThat(read().run().lastSeenAt()).isEqualTo(Instant.ofEpochMilli(1_796_000_000_500L));
  }

  // What is no file

  @Test
  void noSymbolicLinkIsFollowed() throws IOException {
    Path secret = write(temp.resolve("outside"), "user.json", "{\"id\":\"secret\"}");
    Path cache = Files.createDirectories(temp.resolve("cache"));
    write(cache, "last_crash", "2026-12-01T03:36:47.588Z");
    Files.createDirectories(cache.resolve(".scope-cache"));
    Files.createSymbolicLink(cache.resolve(".scope-cache/user.json"), secret);
    Files.createSymbolicLink(cache.resolve(".options-cache"), secret.getParent());
    Files.createSymbolicLink(cache.resolve("outbox"), secret.getParent());
    Files.createSymbolicLink(cache.resolve("a.envelope"), secret);
    Files.createSymbolicLink(cache.resolve("b".repeat(40)), secret.getParent());

    Report report = read(cache);

    assertThat(report.toJson()).doesNotContain("secret");
    assertThat(report.scope().user()).isEmpty();
    assertThat(warnings(report))
        .contains(
            ".scope-cache/user.json: is a symbolic link and is not followed",
            "a.envelope: is a symbolic link and is not followed")
        .anyMatch(text -> text.startsWith(".options-cache: is no directory, or a symbolic link"));
  }

  @Test
  void aLinkToTheDirectoryItselfIsTheUsersToGive() throws IOException {
    writeScope();
    Path link =
        Files.createSymbolicLink(temp.resolve("link"), SentryFiles.read(temp).get(0).directory());

    assertThat(read(link).trail()).hasSize(10);
  }

  @Test
  void aPipeIsNotOpened() throws Exception {
    Path scope = Files.createDirectories(temp.resolve(".scope-cache"));
    write(scope, "tags.json", "{}");
    Process make = new ProcessBuilder("mkfifo", scope.resolve("user.json").toString()).start();
    assertThat(make.waitFor(10, TimeUnit.SECONDS) && make.exitValue() == 0)
        .as("mkfifo is there")
        .isTrue();

    assertThat(warnings(read()))
        .containsExactly(".scope-cache/user.json: is no regular file and is not opened");
  }

  @Test
  void aDirectoryInPlaceOfAFileIsAFinding() throws IOException {
    Files.createDirectories(temp.resolve(".scope-cache/user.json"));

    assertThat(warnings(read()))
        .containsExactly(".scope-cache/user.json: is no regular file and is not opened");
  }

  @Test
  void aFileThatIsTooLongIsReadUpToTheLimit() throws IOException {
    write(temp, ".scope-cache/tags.json", "{\"a\":\"b\"}");
    Path user = write(temp, ".scope-cache/user.json", "{\"id\":\"42\",\"more\":\"");
    try (RandomAccessFile file = new RandomAccessFile(user.toFile(), "rw")) {
      file.setLength(CacheFolder.MAX_FILE + 10L); // sparse
    }

    Report report = read();

    assertThat(report.scope().user()).isEqualTo(Map.of("id", "42"));
    assertThat(warnings(report))
        .hasSize(2)
        .first()
        .asString()
        .contains("file is too long: size=67108874");
  }
}
