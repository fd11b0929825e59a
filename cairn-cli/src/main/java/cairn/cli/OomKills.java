package cairn.cli;

import java.nio.file.Path;
import java.util.OptionalLong;

/** What the kernel's counters say about OOM kills since a command was started. */
final class OomKills {
  private final Path systemRoot;
  private final OptionalLong nodeBefore;
  private final OptionalLong groupBefore;

  OomKills(Path systemRoot) {
    this.systemRoot = systemRoot;
    this.nodeBefore = MemoryGroup.nodeOomKills(systemRoot);
    this.groupBefore = group();
  }

  private OptionalLong group() {
    MemoryGroup group = MemoryGroup.of(systemRoot);
    return group == null ? OptionalLong.empty() : group.oomKills();
  }

  private static OptionalLong moved(OptionalLong before, OptionalLong now) {
    return before.isEmpty() || now.isEmpty() || now.getAsLong() < before.getAsLong()
        ? OptionalLong.empty()
        : OptionalLong.of(now.getAsLong() - before.getAsLong());
  }

  /** {@return OOM kills on this machine since; empty if unknown} */
  OptionalLong onNode() {
    return moved(nodeBefore, MemoryGroup.nodeOomKills(systemRoot));
  }

  /** {@return OOM kills in this control group since; empty if unknown} */
  OptionalLong inGroup() {
    return moved(groupBefore, group());
  }

  /** {@return what that means for a process that died of SIGKILL} */
  String inWords() {
    long node = onNode().orElse(-1);
    long group = inGroup().orElse(-1);
    if (group > 0) {
      return "the kernel counted " + kills(group) + " in this cgroup meanwhile: it may be one";
    }
    if (node > 0) {
      return "the kernel counted "
          + kills(node)
          + " on this host meanwhile, of which process is unknown";
    }
    return node == 0
        ? "the kernel's OOM killer is excluded: its counter on this host did not move"
        : "whether it was the kernel's OOM killer is unknown: /proc/vmstat has no oom_kill";
  }

  private static String kills(long count) {
    return count + (count == 1 ? " OOM kill" : " OOM kills");
  }
}
