package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashCopyTest {
  @TempDir private Path directory;

  private static String copy(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CrashCopy.copy(new ByteArrayInputStream(bytes), out);
    return out.toString(StandardCharsets.UTF_8);
  }

  /** That JVM was started with -Ddb.password, a -D option of three lines, -XX:OnError. */
  @Test
  void commandLinesAndWhatTheyHoldAreLeftOut() throws IOException {
    for (String name : List.of("17-secrets", "25-secrets")) {
      CrashCorpus.Sample sample = CrashCorpus.sample(name);
      assertThat(sample.text()).contains("hunter2", "db.password", "OnError", "PATH=");
      assertThat(copy(sample.bytes()))
          .doesNotContain("hunter2", "password", "OnError", "PATH=", "multi=")
          .contains("[left out by Cairn]", "Problematic frame", "MaxHeapSize", "END.");
    }
  }

  /** A JVM of another vendor or version may print options where ours did not. */
  @Test
  void linesThatLookLikeOptionsAreLeftOutWhereverTheyAre() throws IOException {
    String text = CrashCorpus.sample("25-jni-ill").text();
    for (String line :
        List.of(
            "-Dkey=hunter2",
            " started with -Dkey=hunter2",
            "JAVA_TOOL_OPTIONS=hunter2",
            "jvm_flags: hunter2",
            "java_command: hunter2",
            "a password: hunter2")) {
      for (String title : List.of("\nOther Threads:\n", "\nOS:\n", "\nRegisters:\n")) {
        assertThat(text).contains(title);
        String with = text.replace(title, title + line + "\n");
        assertThat(copy(with.getBytes(StandardCharsets.UTF_8))).as(line).doesNotContain("hunter2");
      }
    }
  }

  @Test
  void memoryThatRegistersPointToIsLeftOut() throws IOException {
    for (CrashCorpus.Sample sample : CrashCorpus.all()) {
      assertThat(copy(sample.bytes()))
          .as(sample.name())
          .doesNotContain("XMM[", "Top of Stack", "to memory mapping");
    }
  }

  @Test
  void messagesOfExceptionsAreLeftOut() throws IOException {
    String text =
        CrashCorpus.sample("25-jni-ill")
            .text()
            .replace("Exception <a 'java/lang/", "Exception <a 'hunter2/java/lang/");
    assertThat(text).contains("hunter2");
    assertThat(copy(text.getBytes(StandardCharsets.UTF_8))).doesNotContain("hunter2");
  }

  @Test
  void aFileThatIsCutSaysNoMoreInItsCopy() throws IOException {
    CrashCorpus.Sample sample = CrashCorpus.sample("25-secrets");
    for (int end = 0; end < sample.bytes().length; end += 97) {
      byte[] bytes = Arrays.copyOf(sample.bytes(), end);
      String copy;
      try {
        copy = copy(bytes);
      } catch (IOException e) {
        assertThat(CrashCorpus.read(bytes)).as("cut at %d", end).isNull();
        continue;
      }
      assertThat(copy).as("cut at %d", end).doesNotContain("hunter2");
      CrashFile file = CrashCorpus.read(bytes);
      CrashFile again = CrashCorpus.read(copy);
      assertThat(CrashCorpus.fields(again)).isEqualTo(CrashCorpus.fields(file));
    }
  }

  @Test
  void theCopyOfAHugeFileIsBoundedAndComplete() throws IOException {
    String text = CrashCorpus.sample("17-jni-bus").text();
    String thread = "  0x00007faa50017f90 JavaThread \"pool-1\" [_thread_blocked, id=1]\n";
    String huge = text.replace("\nOther Threads:", thread.repeat(40_000) + "\nOther Threads:");
    String copy = copy(huge.getBytes(StandardCharsets.UTF_8));
    assertThat(copy.length()).isLessThanOrEqualTo(CrashCopy.MAX_BYTES);
    assertThat(CrashCorpus.read(copy).isComplete).isTrue();
  }

  @Test
  void theCopyIsItsOwnersAndHasTheTimeOfTheFile() throws IOException {
    Path source = directory.resolve("hs_err_pid1.log");
    Path target = directory.resolve("hs_err.log");
    Files.write(source, CrashCorpus.sample("17-jni-bus").bytes());
    FileTime time = FileTime.fromMillis(1_700_000_000_000L);
    Files.setLastModifiedTime(source, time);
    assertThat(CrashCopy.copy(source, target)).isTrue();
    assertThat(CrashCopy.copy(source, target)).as("the first stays").isFalse();
    assertThat(Files.getLastModifiedTime(target)).isEqualTo(time);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
        .isEqualTo("rw-------");
    assertThat(new LocalHost().crashFile(target).file().signal).isEqualTo("SIGBUS");
    assertThat(names()).containsExactlyInAnyOrder("hs_err_pid1.log", "hs_err.log");
  }

  @Test
  void whatIsNoCrashFileIsNotCopied() throws IOException {
    Path source = Files.writeString(directory.resolve("diary"), "dear diary\n");
    Path link = Files.createSymbolicLink(directory.resolve("link"), source);
    for (Path wrong : List.of(source, link, directory, directory.resolve("nothing"))) {
      assertThatThrownBy(() -> CrashCopy.copy(wrong, directory.resolve("copy")))
          .as(wrong.toString())
          .isInstanceOf(IOException.class);
    }
    assertThat(names()).containsExactlyInAnyOrder("diary", "link");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
