package cairn.report;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.OptionalLong;

/**
 * Reads boxes from memory as those of runs that died on this machine, whose facts it looks up once.
 * Any thread.
 */
public final class DeadBoxReader {
  private final HostFacts host = new Snapshot(new LocalHost());

  /** Reads a box. */
  public Report read(byte[] box) throws IOException {
    Salvage salvage = new Salvage(box, "memory", false);
    return new Judge(salvage, Liveness.DEAD, host).report("memory", "memory");
  }

  private static final class Snapshot implements HostFacts {
    private final Instant now;
    private final String bootId;
    private final Instant bootedAt;
    private final String hostName;
    private final OptionalLong nodeOomKills;
    private final OptionalLong memoryBytes;

    Snapshot(HostFacts host) {
      now = host.now();
      bootId = host.bootId();
      bootedAt = host.bootedAt();
      hostName = host.hostName();
      nodeOomKills = host.nodeOomKills();
      memoryBytes = host.memoryBytes();
    }

    @Override
    public Instant now() {
      return now;
    }

    @Override
    public String bootId() {
      return bootId;
    }

    @Override
    public Instant bootedAt() {
      return bootedAt;
    }

    @Override
    public String hostName() {
      return hostName;
    }

    @Override
    public OptionalLong nodeOomKills() {
      return nodeOomKills;
    }

    @Override
    public OptionalLong memoryBytes() {
      return memoryBytes;
    }

    @Override
    public HostFile file(Path path) {
      return null;
    }
  }
}
