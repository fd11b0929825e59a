package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JvmFlagsTest {
  private static JvmFlags line(String... arguments) {
    return JvmFlags.of(null, null, String.join("\0", arguments) + "\0", null);
  }

  @Test
  void lastOfANameCountsInTheOrderOfTheJvm() {
    JvmFlags flags =
        JvmFlags.of(
            "-XX:ErrorFile=/tool -XX:+ExitOnOutOfMemoryError",
            "-XX:ErrorFile=/launcher",
            "java\0-XX:ErrorFile=/line\0Main\0",
            null);
    assertThat(flags.value("ErrorFile")).isEqualTo("/line");
    assertThat(flags.isSet("ExitOnOutOfMemoryError")).isTrue();
    assertThat(
            JvmFlags.of(
                    "-XX:ErrorFile=/tool",
                    null,
                    "java\0-XX:ErrorFile=/line\0",
                    "-XX:ErrorFile=/late")
                .value("ErrorFile"))
        .isEqualTo("/late");
    assertThat(
            JvmFlags.of(null, "-XX:ErrorFile=/launcher", "java\0Main\0", null).value("ErrorFile"))
        .isEqualTo("/launcher");
  }

  @Test
  void flagThatIsTakenBackIsNotSet() {
    assertThat(
            line("java", "-XX:+ExitOnOutOfMemoryError", "-XX:-ExitOnOutOfMemoryError")
                .isSet("ExitOnOutOfMemoryError"))
        .isFalse();
    assertThat(line("java", "-XX:OnOutOfMemoryError=cairn note oom %p").isSet("OnOutOfMemoryError"))
        .isTrue();
    assertThat(line("java", "-XX:+ExitOnOutOfMemoryErrorX").isSet("ExitOnOutOfMemoryError"))
        .isFalse();
  }

  @Test
  void quotesKeepWhiteSpaceInAVariable() {
    JvmFlags flags =
        JvmFlags.of("-Dx=1 '-XX:ErrorFile=/a b/c' -XX:HeapDumpPath=\"/d e\"", null, "", null);
    assertThat(flags.value("ErrorFile")).isEqualTo("/a b/c");
    assertThat(flags.value("HeapDumpPath")).isEqualTo("/d e");
  }

  @Test
  void nothingIsNoFlag() {
    JvmFlags flags = JvmFlags.of(null, "", "", " ");
    assertThat(flags.value("ErrorFile")).isNull();
    assertThat(JvmFlags.NOTED).noneMatch(flags::isSet);
  }
}
