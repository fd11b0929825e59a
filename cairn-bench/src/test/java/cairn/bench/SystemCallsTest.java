package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class SystemCallsTest {
  private static final String BEGIN = "7 write(1</t/log>, \"mark begin\\n\", 11) = 11";
  private static final String END = "7 write(1</t/log>, \"mark end\\n\", 9) = 9";

  @Test
  void writesAndForcesBetweenTheMarksAreCounted() {
    assertThat(
            between(
                "7 write(5</d/a>, \"x\"..., 250) = 250",
                "7 pwrite64(5</d/a>, \"x\"..., 250, 250) = 100",
                "7 fsync(5</d/a>) = 0",
                "7 fdatasync(5</d/a>) = 0"))
        .isEqualTo(new SystemCalls(2, 350, 2));
  }

  @Test
  void whatIsBeforeAndAfterTheMarksIsNotCounted() {
    String write = "7 write(5</d/a>, \"x\"..., 250) = 250";
    assertThat(parse(write, "7 fsync(5</d/a>) = 0", BEGIN, END, write, "7 fsync(5</d/a>) = 0"))
        .isEqualTo(new SystemCalls(0, 0, 0));
  }

  @Test
  void otherFilesAreNotCounted() {
    assertThat(
            between(
                "7 write(1</t/log>, \"hello\\n\", 6) = 6",
                "7 write(5</dd/a>, \"x\", 1) = 1",
                "7 fsync(5</dd/a>) = 0"))
        .isEqualTo(new SystemCalls(0, 0, 0));
  }

  @Test
  void aWriteToAFileOpenedToWriteThroughIsAForceToo() {
    String open = "7 openat(AT_FDCWD</w>, \"/d/a\", O_RDWR|O_CREAT|O_DSYNC, 0666) = 5</d/a>";
    String write = "7 write(5</d/a>, \"x\", 1) = 1";
    assertThat(parse(open, BEGIN, write, END)).isEqualTo(new SystemCalls(1, 1, 1));
  }

  @Test
  void aDescriptorUsedAgainWithoutWriteThroughIsNone() {
    String open = "7 openat(AT_FDCWD</w>, \"/d/a\", O_RDWR|O_SYNC, 0666) = 5</d/a>";
    String again = "7 openat(AT_FDCWD</w>, \"/d/b\", O_RDWR, 0666) = 5</d/b>";
    String write = "7 write(5</d/b>, \"x\", 1) = 1";
    assertThat(parse(open, again, BEGIN, write, END)).isEqualTo(new SystemCalls(1, 1, 0));
  }

  @Test
  void aCallThatAnotherThreadInterruptedIsCountedOnceWithItsResult() {
    assertThat(
            between(
                "7 pwrite64(5</d/a>, \"x\"..., 250, 0 <unfinished ...>",
                "8 fsync(6</d/b> <unfinished ...>",
                "7 <... pwrite64 resumed>) = 250",
                "8 <... fsync resumed>) = 0"))
        .isEqualTo(new SystemCalls(1, 250, 1));
  }

  @Test
  void aFailedWriteIsNone() {
    assertThat(between("7 write(5</d/a>, \"x\", 1) = -1 ENOSPC (No space left on device)"))
        .isEqualTo(new SystemCalls(0, 0, 0));
  }

  @Test
  void msyncIsAForceIfItWaits() {
    assertThat(
            between(
                "7 msync(0x7f0000000000, 4096, MS_SYNC) = 0",
                "7 msync(0x7f0000000000, 4096, MS_ASYNC) = 0"))
        .isEqualTo(new SystemCalls(0, 0, 1));
  }

  @Test
  void aTraceWithoutMarksIsRefused() {
    List<String> lines = List.of("7 fsync(5</d/a>) = 0");
    assertThatThrownBy(() -> SystemCalls.parse(lines.stream(), Path.of("/d")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("marks in the trace");
  }

  private static SystemCalls between(String... lines) {
    return SystemCalls.parse(
        Stream.of(Stream.of(BEGIN), Stream.of(lines), Stream.of(END)).flatMap(part -> part),
        Path.of("/d"));
  }

  private static SystemCalls parse(String... lines) {
    return SystemCalls.parse(Stream.of(lines), Path.of("/d"));
  }
}
