package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CgroupProcessesTest {
  private static final long PID = ProcessHandle.current().pid();

  @TempDir Path directory;

  private long count(String list, int pageSize) throws IOException {
    Files.writeString(directory.resolve("cgroup.procs"), list);
    long[] counts = new long[2];
    for (boolean version1 : new boolean[] {false, true}) {
      try (CgroupProcesses processes =
          new CgroupProcesses(new Cgroup(directory.toString(), version1), pageSize)) {
        counts[version1 ? 1 : 0] = processes.count();
        assertThat(processes.count()).isEqualTo(counts[version1 ? 1 : 0]);
      }
    }
    assertThat(counts[0]).isEqualTo(counts[1]);
    return counts[0];
  }

  private static long parent() {
    return ProcessHandle.current().parent().orElseThrow().pid();
  }

  @Test
  void everyProcessCountsButASmallOneThatStartedThis() throws IOException {
    assertThat(count(PID + "\n", 4096)).isEqualTo(1);
    assertThat(count(PID + "\n" + parent() + "\n", 1)).isEqualTo(1);
    // The parent, as if its pages were large.
    assertThat(count(PID + "\n" + parent() + "\n", 1 << 30)).isEqualTo(2);
    // 0 is a process of another pid namespace; a pid that is no ancestor counts however small.
    assertThat(count("0\n" + PID + "\n" + parent() + "\n4194303\n", 1)).isEqualTo(3);
  }

  @Test
  void nothingToReadIsUnknown() throws IOException {
    assertThat(count("", 4096)).isEqualTo(ProcFile.UNKNOWN);
    try (CgroupProcesses none = new CgroupProcesses(new Cgroup("/no/such", true), 4096)) {
      assertThat(none.count()).isEqualTo(ProcFile.UNKNOWN);
    }
  }

  @Test
  void longListIsCountedAsFarAsItIsRead() throws IOException {
    assertThat(count("12345\n".repeat(10_000), 4096)).isGreaterThan(64);
  }
}
