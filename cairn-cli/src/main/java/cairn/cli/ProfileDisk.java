package cairn.cli;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the disk under a directory.
 *
 * @param type the file system, such as {@code ext4}
 * @param device such as {@code /dev/nvme0n1p1}; what the file system calls itself
 * @param usableBytes free for this user; -1 if unknown
 * @param writeCache what the kernel takes the device for: {@code write back} or {@code write
 *     through}; null if unknown
 * @param isRotational whether it has heads to move; null if unknown
 * @param backing the file system that a loop device's file is on; {@code ramdisk} for a device that
 *     is memory; null for any other device, or if unknown
 */
record ProfileDisk(
    String type,
    String device,
    long usableBytes,
    @Nullable String writeCache,
    @Nullable Boolean isRotational,
    @Nullable String backing) {

  private static final String RAMDISK = "ramdisk";
  private static final List<String> MEMORY =
      List.of("tmpfs", "ramfs", "devtmpfs", "hugetlbfs", RAMDISK);
  private static final List<String> REMOTE =
      List.of(
          "nfs",
          "smb",
          "cifs",
          "9p",
          "fuse",
          "virtiofs",
          "ceph",
          "glusterfs",
          "afs",
          "lustre",
          "gpfs",
          "vboxsf",
          "vmhgfs",
          "prl_fs",
          "drvfs");

  /**
   * Looks at the disk.
   *
   * @param directory exists
   * @param systemRoot where {@code sys} is found
   */
  static ProfileDisk under(Path directory, Path systemRoot) throws IOException {
    FileStore store = Files.getFileStore(directory);
    long usable;
    try {
      usable = store.getUsableSpace();
    } catch (IOException e) {
      usable = -1;
    }
    String name = kernelName(store.name());
    Path queue = name == null ? null : queue(name, systemRoot);
    String rotational = queue == null ? null : read(queue.resolve("rotational"));
    return new ProfileDisk(
        store.type(),
        store.name(),
        usable,
        queue == null ? null : read(queue.resolve("write_cache")),
        rotational == null ? null : rotational.equals("1"),
        name == null ? null : backing(name, systemRoot));
  }

  /** {@return what a device is that is no device: a file somewhere, or memory} */
  static @Nullable String backing(String name, Path systemRoot) {
    if (name.startsWith("ram") || name.startsWith("zram")) {
      return RAMDISK;
    }
    Path block = systemRoot.resolve("sys/class/block").resolve(name);
    String file = read(block.resolve("loop/backing_file"));
    try {
      return file == null ? null : Files.getFileStore(Path.of(file)).type();
    } catch (IOException e) {
      return null; // of another mount namespace
    }
  }

  /** {@return the name without links and directory, such as {@code sda1}; null if it has none} */
  private static @Nullable String kernelName(String device) {
    try {
      return device.startsWith("/dev/")
          ? String.valueOf(Path.of(device).toRealPath().getFileName())
          : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** {@return where the kernel tells of the device, of a partition's disk; null if nowhere} */
  static @Nullable Path queue(String name, Path systemRoot) {
    try {
      Path top = systemRoot.toRealPath();
      Path at = systemRoot.resolve("sys/class/block").resolve(name).toRealPath();
      while (at != null && at.startsWith(top)) {
        if (Files.isDirectory(at.resolve("queue"))) {
          return at.resolve("queue");
        }
        at = at.getParent();
      }
      return null;
    } catch (IOException e) {
      return null;
    }
  }

  private static @Nullable String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return null;
    }
  }

  /** {@return whether its files are memory, and go with a reboot} */
  boolean isMemory() {
    return isMemory(type) || (backing != null && isMemory(backing));
  }

  private static boolean isMemory(String type) {
    return MEMORY.contains(type.toLowerCase(Locale.ROOT));
  }

  /** {@return whether another machine, or another program, decides what a force means} */
  boolean isRemote() {
    String lower = type.toLowerCase(Locale.ROOT);
    for (String prefix : REMOTE) {
      if (lower.startsWith(prefix)) {
        // fuseblk is a disk of this machine: NTFS or exFAT in user space.
        return !lower.equals("fuseblk");
      }
    }
    return false;
  }

  /** {@return whether a hypervisor shows it: virtio or Xen} */
  boolean isVirtual() {
    return device.startsWith("/dev/vd") || device.startsWith("/dev/xvd");
  }

  /** {@return what the device is in truth, in words} */
  String backingText() {
    return backing == null ? "" : backing.equals(RAMDISK) ? "memory" : "a file on " + backing;
  }

  /** {@return one line, such as {@code ext4 on /dev/vda, 79.0 GiB free}} */
  String describe() {
    return type
        + (device.equals(type) ? "" : " on " + device)
        + (backing == null ? "" : " (" + backingText() + ")")
        + (usableBytes < 0 ? "" : ", " + Units.size(usableBytes) + " free");
  }
}
