package cairn.report;

import cairn.format.VitalsLayout;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * How many OOM kills the kernel has counted since the run's last sample. Immutable.
 *
 * @param inCgroup in the run's own cgroup, by whatever OOM killer of the kernel; empty if it can't
 *     be compared
 * @param onNode on the whole machine; empty if it can't be compared
 * @param soon whether somebody looked within a minute of the last sign of life
 */
record OomKills(OptionalLong inCgroup, OptionalLong onNode, boolean soon) {
  /*
   * The kernel counts a kill before the victim dies, and a thread that is being killed does not come
   * back from the read of the counter. So what a sample of the run shows was always another process;
   * only what came after the last sample can have been the run.
   *
   * The later somebody looks, the more kills of others there may be among it: so what a witness wrote
   * down goes before what the counters say now.
   */
  private static final Duration SOON = Duration.ofSeconds(60);

  static OomKills since(Salvage run, HostFacts host, Traces traces) {
    String bootId = Salvage.text(run.identity, "bootId");
    if (bootId == null) {
      return new OomKills(OptionalLong.empty(), OptionalLong.empty(), false);
    }
    OptionalLong cgroup = OptionalLong.empty();
    OptionalLong node = OptionalLong.empty();
    Instant at = null;
    for (Statement statement : traces.statements()) {
      if (bootId.equalsIgnoreCase(statement.bootId())) {
        at = at == null ? statement.at() : at;
        cgroup = cgroup.isPresent() ? cgroup : statement.cgroupOomKills();
        node = node.isPresent() ? node : statement.nodeOomKills();
      }
    }
    if (bootId.equalsIgnoreCase(host.bootId())) {
      at = at == null ? host.now() : at;
      node = node.isPresent() ? node : host.nodeOomKills();
      String directory = Salvage.text(run.identity, "cgroup");
      OptionalLong inode = Salvage.integer(run.identity, "cgroupInode");
      if (cgroup.isEmpty() && directory != null && inode.isPresent()) {
        cgroup = host.cgroupOomKills(directory, inode.getAsLong());
      }
    }
    return new OomKills(
        moved(run.lastVital(VitalsLayout.CGROUP_OOM_KILLS), cgroup),
        moved(run.lastVital(VitalsLayout.NODE_OOM_KILLS), node),
        isSoon(run.lastSeen, at));
  }

  private static boolean isSoon(@Nullable Instant seen, @Nullable Instant at) {
    return seen != null && at != null && Duration.between(seen, at).compareTo(SOON) <= 0;
  }

  private static OptionalLong moved(OptionalLong before, OptionalLong after) {
    return before.isEmpty() || after.isEmpty() || after.getAsLong() < before.getAsLong()
        ? OptionalLong.empty()
        : OptionalLong.of(after.getAsLong() - before.getAsLong());
  }

  /** {@return whether no OOM killer of the kernel can have killed the run} */
  boolean excluded() {
    return inCgroup.isPresent()
        ? inCgroup.getAsLong() == 0
        : onNode.isPresent() && onNode.getAsLong() == 0;
  }
}
