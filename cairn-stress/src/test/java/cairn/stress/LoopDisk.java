package cairn.stress;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A real ext4 on a loop device whose image file is in a tmpfs: what is in the image file is what
 * has reached the device, so a copy of it is what a power cut leaves.
 */
final class LoopDisk implements AutoCloseable {
  private static final int IMAGE_MIB = 24;
  private static final int MEMORY_MIB = 64;

  private final Mount memory;
  private final Mount disk;
  private final Path image;
  private int cuts;

  private LoopDisk(Mount memory, Mount disk, Path image) {
    this.memory = memory;
    this.disk = disk;
    this.image = image;
  }

  /**
   * Makes one.
   *
   * @param memoryMiB of the tmpfs; less than the image can grow to, for a device that fails
   * @return empty, and a line on the standard output that says why, if this user may not
   */
  static Optional<LoopDisk> of(Path directory, int memoryMiB) throws IOException {
    Optional<Mount> memory =
        Mount.of("tmpfs", "size=" + memoryMiB + "m", directory.resolve("memory"));
    if (memory.isEmpty()) {
      return Optional.empty();
    }
    boolean done = false;
    try {
      Path image = memory.get().directory.resolve("image");
      try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
        file.setLength((long) IMAGE_MIB << 20); // sparse, as a disk that nobody has written to
      }
      String said = Mount.run("mkfs.ext4", "-q", "-F", "-J", "size=4", image.toString());
      if (said != null) {
        System.out.println("NOT RUN, cannot make an ext4: " + said);
        return Optional.empty();
      }
      Optional<Mount> disk = Mount.of("ext4", "loop", image.toString(), directory.resolve("disk"));
      done = disk.isPresent();
      return disk.map(mounted -> new LoopDisk(memory.get(), mounted, image));
    } finally {
      if (!done) {
        memory.get().close();
      }
    }
  }

  /** As {@link #of(Path, int)}, with all the memory that it needs. */
  static Optional<LoopDisk> of(Path directory) throws IOException {
    return of(directory, MEMORY_MIB);
  }

  Path directory() {
    return disk.directory;
  }

  /** Cuts the power: what has reached the device by now, mounted as after the reboot. */
  Mount cut() throws IOException {
    Path copy = image.resolveSibling("cut-" + cuts++);
    Files.copy(image, copy);
    Optional<Mount> mount =
        Mount.of("ext4", "loop", copy.toString(), disk.directory.resolveSibling("cut"));
    return mount.orElseThrow(() -> new IOException("image can't be mounted: " + copy));
  }

  /** Unmounts a cut and forgets it. */
  void end(Mount cut) throws IOException {
    cut.close();
    Files.delete(image.resolveSibling("cut-" + (cuts - 1)));
  }

  /** Takes all the memory that is left: from now on the device fails where it must allocate. */
  void fillMemory() throws IOException {
    memory.fill();
  }

  /** Gives the device more room. */
  void grow() throws IOException {
    memory.remount("size=" + MEMORY_MIB + "m");
  }

  /** Unmounts it, and mounts it again as after a reboot. */
  LoopDisk reboot() throws IOException {
    disk.close();
    Optional<Mount> again = Mount.of("ext4", "loop", image.toString(), disk.directory);
    return new LoopDisk(
        memory, again.orElseThrow(() -> new IOException("image can't be mounted again")), image);
  }

  @Override
  public void close() throws IOException {
    try {
      disk.close();
    } finally {
      memory.close();
    }
  }
}
