package cairn.report;

import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/** A machine whose facts a test sets. By default the one that the box was recorded on. */
final class FakeHost implements HostFacts {
  Instant now = Instant.ofEpochMilli(BoxBuilder.START_WALL).plusSeconds(3600);
  String bootId = BoxBuilder.BOOT_ID;
  Instant bootedAt = Instant.ofEpochMilli(BoxBuilder.START_WALL).minusSeconds(86_400);
  String hostName = BoxBuilder.HOST;
  OptionalLong nodeOomKills = OptionalLong.empty();
  OptionalLong memoryBytes = OptionalLong.of(16L << 30);
  OptionalLong cgroupOomKills = OptionalLong.empty();
  String hostId;
  long aliveProcess = -1;
  PerfData counters;
  final Map<Path, HostFile> files = new HashMap<>();

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
  public OptionalLong cgroupOomKills(String directory, long inode) {
    return cgroupOomKills;
  }

  @Override
  public String hostId() {
    return hostId;
  }

  @Override
  public OptionalLong memoryBytes() {
    return memoryBytes;
  }

  @Override
  public boolean isAlive(long pid, long start, String pidNamespace) {
    return pid == aliveProcess && start == 123_456L && pidNamespace.equals("pid:[4026531836]");
  }

  @Override
  public PerfData counters(Salvage run) {
    return counters;
  }

  @Override
  public HostFile file(Path path) {
    return files.get(path);
  }
}
