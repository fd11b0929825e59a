package cairn.cli;

import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What {@code doctor} asks about the root directory. Changes nothing. */
final class RootChecks {
  /** What a run takes: the default size of a box. */
  private static final long RUN_BYTES = 4L << 20;

  /** Below this much free space the next restarts are at risk. */
  private static final long LOW_BYTES = 16 * RUN_BYTES;

  /** As the recorder has them. */
  private static final Set<String> MAPPED =
      Set.of("ext2", "ext3", "ext4", "xfs", "tmpfs", "overlay", "apfs", "hfs", "NTFS");

  private final Path root;
  private final @Nullable Path existing;

  RootChecks(Path root) {
    this.root = root;
    Path path = root.toAbsolutePath().normalize();
    while (path != null && !Files.exists(path)) {
      path = path.getParent();
    }
    this.existing = path;
  }

  Check directory() {
    String name = "directory";
    if (Files.isSymbolicLink(root)) {
      return Check.problem(
          name,
          root + " is a symbolic link" + target() + ": a recorder refuses it",
          "name the directory itself with cairn.dir or CAIRN_DIR");
    }
    if (existing == null) {
      return Check.problem(name, root + ": no part of it exists", "choose another with CAIRN_DIR");
    }
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      return Files.isDirectory(existing) && Files.isWritable(existing)
          ? Check.ok(name, root + " does not exist yet; the first recorder creates it")
          : Check.problem(
              name,
              root + " does not exist and cannot be created in " + existing,
              "create it for the user that runs the application, mode 0700, or choose another with"
                  + " CAIRN_DIR");
    }
    if (!Files.isDirectory(root)) {
      return Check.problem(
          name, root + " is not a directory", "move it away, or choose another with CAIRN_DIR");
    }
    if (!Files.isReadable(root) || !Files.isExecutable(root)) {
      return Check.problem(
          name,
          root + " is not readable" + owner(),
          "run cairn as the user that runs the application");
    }
    if (!Files.isWritable(root)) {
      return Check.problem(
          name,
          root + " is not writable" + owner(),
          "give it to the user that runs the application, or mount it writable");
    }
    return Check.ok(name, root + " exists and is writable");
  }

  private String target() {
    try {
      return " to " + Files.readSymbolicLink(root);
    } catch (IOException e) {
      return "";
    }
  }

  private String owner() {
    try {
      return ", owner " + Files.getOwner(root).getName();
    } catch (IOException | UnsupportedOperationException e) {
      return "";
    }
  }

  /** {@return null where there is nothing to check} */
  @Nullable Check permissions() {
    String name = "permissions";
    try {
      if (!Files.isDirectory(root)) {
        return null;
      }
      Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(root);
      String text = PosixFilePermissions.toString(permissions);
      boolean writable =
          permissions.contains(PosixFilePermission.GROUP_WRITE)
              || permissions.contains(PosixFilePermission.OTHERS_WRITE);
      String remedy = "chmod 700 " + ShellWord.quote(root.toString());
      if (writable) {
        return Check.warn(name, text + ": others can plant or delete runs", remedy);
      }
      return text.endsWith("------")
          ? Check.ok(name, text)
          : Check.warn(name, text + ": others can see which applications ran and when", remedy);
    } catch (IOException e) {
      return Check.warn(name, "unknown: " + RunSource.describe(e), "look at the directory by hand");
    } catch (UnsupportedOperationException e) {
      return Check.ok(name, "no POSIX permissions on this file system");
    }
  }

  Check fileSystem() {
    String name = "file system";
    FileStore store = store();
    if (store == null) {
      return Check.warn(name, "unknown", "look at the directory by hand");
    }
    String type = store.type();
    if (!MAPPED.contains(type)) {
      return Check.warn(
          name,
          type
              + ": not known to be safe to map; the recorder copies every 100 ms instead, and"
              + " a death takes what was recorded since",
          "use a local file system (ext4, xfs, tmpfs) for what may not be lost");
    }
    if (type.equals("overlay")) {
      return Check.warn(
          name,
          type + ": mapped, but it is a container's own layer and goes with the container",
          "mount a volume there (an emptyDir outlives a restarted container)");
    }
    if (type.equals("tmpfs")) {
      return Check.warn(
          name,
          type
              + ": mapped; it survives any process death, not a reboot, and counts as memory of"
              + " the container",
          "use a disk if reboots are to be explained");
    }
    return Check.ok(name, type + ": mapped; what was recorded survives any process death");
  }

  Check freeSpace() {
    String name = "free space";
    FileStore store = store();
    try {
      if (store == null) {
        throw new IOException("no file store");
      }
      long usable = store.getUsableSpace();
      String text = Units.size(usable) + " free, " + Units.size(RUN_BYTES) + " for each run";
      if (usable < RUN_BYTES) {
        return Check.problem(
            name, text + ": the next run records nothing", "free space, or see: cairn prune");
      }
      return usable < LOW_BYTES
          ? Check.warn(name, text, "free space, or see: cairn prune")
          : Check.ok(name, text);
    } catch (IOException e) {
      return Check.warn(name, "unknown: " + RunSource.describe(e), "look at the disk by hand");
    }
  }

  private @Nullable FileStore store() {
    try {
      return existing == null ? null : Files.getFileStore(existing);
    } catch (IOException e) {
      return null;
    }
  }

  /** {@return null where there is nothing to check} */
  @Nullable Check runs() {
    String name = "runs";
    if (!Files.isDirectory(root) || !Files.isReadable(root)) {
      return null;
    }
    List<Run> runs;
    try {
      runs = Runs.under(root).list();
    } catch (IOException e) {
      return Check.problem(
          name,
          "not readable: " + RunSource.describe(e),
          "run cairn as the owner of the directory");
    }
    int running = 0;
    int unreadable = 0;
    Map<String, Integer> dead = new HashMap<>();
    int most = 0;
    for (Run run : runs) {
      if (!isReadable(run)) {
        unreadable++;
      }
      if (run.isRunning()) {
        running++;
      } else {
        most = Math.max(most, dead.merge(run.app(), 1, Integer::sum));
      }
    }
    String text = runs.size() + " (" + running + " running)";
    if (unreadable > 0) {
      return Check.warn(
          name,
          text + ", unreadable: " + unreadable,
          "cairn list names them; cairn why RUN says what is wrong with one");
    }
    return most > PruneCommand.KEEP
        ? Check.warn(name, text + ", of one application " + most + " dead", "cairn prune")
        : Check.ok(name, text);
  }

  private static boolean isReadable(Run run) {
    try {
      return run.identity().pid() >= 0;
    } catch (IOException e) {
      return false;
    }
  }
}
