package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForceVerdictTest {
  private static ProfileDisk disk(String type) {
    return new ProfileDisk(type, "/dev/sda1", 1L << 30, "write back", false, null);
  }

  @ParameterizedTest
  @CsvSource({
    "ext4, 168, PLAUSIBLE",
    "xfs, 20, PLAUSIBLE",
    "ext4, 19.9, SUSPICIOUS",
    "overlay, 5, SUSPICIOUS",
    "tmpfs, 3, MEMORY",
    "tmpfs, 3000, MEMORY",
    "nfs4, 500, REMOTE",
    "cifs, 5, REMOTE",
    "fuse.sshfs, 500, REMOTE",
    "fuseblk, 500, PLAUSIBLE",
    "9p, 500, REMOTE"
  })
  void theVerdictIsByFileSystemThenByTime(String type, double micros, ForceVerdict.Kind kind) {
    assertThat(ForceVerdict.of(disk(type), micros, 2.0).kind()).isEqualTo(kind);
  }

  @Test
  void aForceThatIsTooFastIsSaidWithItsNumbers() {
    ForceVerdict verdict = ForceVerdict.of(disk("ext4"), 6.0, 4.0);

    assertThat(verdict.text())
        .contains("does not reach a medium, or the write cache lies")
        .contains("median 6.00 us, without force 4.00 us, 1.5 times")
        .contains("Power loss guarantees do not hold here");
    assertThat(verdict.kind().isTrusted()).isFalse();
  }

  @Test
  void whatWasNotMeasuredIsUnknown() {
    ForceVerdict verdict = ForceVerdict.of(disk("ext4"), null, 4.0);

    assertThat(verdict.kind()).isEqualTo(ForceVerdict.Kind.UNKNOWN);
    assertThat(verdict.kind().isTrusted()).isFalse();
  }

  @Test
  void aDeviceThatIsAskedToFlushNothingAndAVirtualOneAreNamed() {
    assertThat(ForceVerdict.of(disk("ext4"), 100.0, null).text())
        .isEqualTo("The force is as slow as one that reaches a medium: median 100 us.");
    assertThat(
            ForceVerdict.of(
                    new ProfileDisk("ext4", "/dev/vda", 1, "write through", true, null), 100.0, 2.0)
                .text())
        .contains("asks it to flush nothing", "virtual disk");
  }
}
