package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileDiskTest {
  @TempDir Path root;

  /** As sysfs has it: a link by name, the queue in the disk's directory, a partition in that. */
  private void block(String name, String directory) throws IOException {
    Path device = Files.createDirectories(root.resolve(directory));
    Path links = Files.createDirectories(root.resolve("sys/class/block"));
    Files.createSymbolicLink(links.resolve(name), device);
  }

  @Test
  void aPartitionHasTheQueueOfItsDisk() throws IOException {
    block("sda1", "sys/devices/pci/sda/sda1");
    Path queue = Files.createDirectories(root.resolve("sys/devices/pci/sda/queue"));

    assertThat(ProfileDisk.queue("sda1", root)).isEqualTo(queue.toRealPath());
  }

  @Test
  void aDeviceThatTheKernelDoesNotShowHasNone() throws IOException {
    block("loop0", "sys/devices/virtual/loop0");

    assertThat(ProfileDisk.queue("loop0", root)).isNull();
    assertThat(ProfileDisk.queue("sdz", root)).isNull();
  }

  @Test
  void aLoopDeviceIsWhatItsFileIsOnAndARamdiskIsMemory() throws IOException {
    Path loop = Files.createDirectories(root.resolve("sys/class/block/loop7/loop"));
    Path file = Files.createFile(root.resolve("image"));
    Files.writeString(loop.resolve("backing_file"), file + "\n");

    assertThat(ProfileDisk.backing("loop7", root)).isEqualTo(Files.getFileStore(file).type());
    assertThat(ProfileDisk.backing("sda", root)).isNull();
    ProfileDisk inMemory = new ProfileDisk("ext4", "/dev/loop7", -1, null, null, "tmpfs");
    assertThat(inMemory.isMemory()).isTrue();
    assertThat(inMemory.describe()).isEqualTo("ext4 on /dev/loop7 (a file on tmpfs)");
    assertThat(ForceVerdict.of(inMemory, 33.0, 4.0).text())
        .startsWith("/dev/loop7 (a file on tmpfs) is memory");
    assertThat(
            new ProfileDisk("ext4", "/dev/ram0", -1, null, null, ProfileDisk.backing("ram0", root))
                .isMemory())
        .isTrue();
  }

  @Test
  void theDiskUnderADirectoryHasATypeANameAndSpace() throws IOException {
    ProfileDisk disk = ProfileDisk.under(root, root);

    assertThat(disk.type()).isNotEmpty();
    assertThat(disk.device()).isNotEmpty();
    assertThat(disk.usableBytes()).isPositive();
    assertThat(disk.writeCache()).isNull();
    assertThat(disk.isRotational()).isNull();
  }

  @Test
  void itIsDescribedInOneLine() {
    assertThat(ProfileFigures.DISK.describe()).isEqualTo("ext4 on /dev/sda1, 10.0 GiB free");
    assertThat(new ProfileDisk("tmpfs", "tmpfs", -1, null, null, null).describe())
        .isEqualTo("tmpfs");
  }
}
