package cairn;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Where the memory controller of this process is: version 1 or 2, seen from inside a container or
 * from the host.
 *
 * @param directory with the files of the controller
 * @param version1 whether they are named as in version 1
 */
record Cgroup(String directory, boolean version1) {

  static Cgroup ofThisProcess() {
    String mine = ProcFile.text("/proc/self/cgroup");
    String v1 = null;
    String v2 = null;
    for (String line : mine == null ? new String[0] : mine.split("\n", -1)) {
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && parts[0].equals("0") && parts[1].isEmpty()) {
        v2 = parts[2];
      } else if (parts.length == 3 && Arrays.asList(parts[1].split(",", -1)).contains("memory")) {
        v1 = parts[2];
      }
    }
    return v1 != null
        ? at("/sys/fs/cgroup/memory", v1, "memory.usage_in_bytes", true)
        : at("/sys/fs/cgroup", v2 == null ? "/" : v2, "memory.current", false);
  }

  /** Inside a container the path names a place outside it, and the root is the container's own. */
  private static Cgroup at(String root, String path, String file, boolean version1) {
    String own = path.equals("/") ? root : root + path;
    return new Cgroup(Files.exists(Path.of(own, file)) ? own : root, version1);
  }

  String usage() {
    return directory + (version1 ? "/memory.usage_in_bytes" : "/memory.current");
  }

  String limit() {
    return directory + (version1 ? "/memory.limit_in_bytes" : "/memory.max");
  }

  String events() {
    return directory + (version1 ? "/memory.oom_control" : "/memory.events");
  }

  /** Of a container's own cgroup, too: the pids of other namespaces are 0, a line each. */
  String processes() {
    return directory + "/cgroup.procs";
  }

  String stat() {
    return directory + "/memory.stat";
  }

  /** {@return the key in {@link #stat} of file pages that the kernel takes back first} */
  String inactiveFile() {
    return version1 ? "total_inactive_file" : "inactive_file";
  }

  /** {@return what tells the directory from a later one of the same name, or unknown} */
  static long inode(String directory) {
    try {
      return Files.getAttribute(Path.of(directory), "unix:ino") instanceof Long inode
          ? inode
          : ProcFile.UNKNOWN;
    } catch (IOException
        | UnsupportedOperationException
        | IllegalArgumentException
        | SecurityException e) {
      return ProcFile.UNKNOWN;
    }
  }
}
