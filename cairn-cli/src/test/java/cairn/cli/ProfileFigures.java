package cairn.cli;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Profiles with figures of our choice. */
final class ProfileFigures {
  static final ProfileDisk DISK =
      new ProfileDisk("ext4", "/dev/sda1", 10L << 30, "write back", false, null);

  private final List<ProfileResult> results = new ArrayList<>();

  /** Adds a layer of which every call took that long. */
  ProfileFigures layer(String id, double micros) {
    return layer(id, micros, null);
  }

  /** Adds a layer of which two calls in a hundred took longer. */
  ProfileFigures layer(String id, double micros, double slowMicros) {
    layer(id, micros, null);
    Latencies latencies = results.get(results.size() - 1).latencies();
    for (int i = 0; i < 20; i++) {
      latencies.record((long) (slowMicros * 1000));
    }
    return this;
  }

  ProfileFigures failed(String id, String error) {
    return layer(id, 0, error);
  }

  private ProfileFigures layer(String id, double micros, String error) {
    Latencies latencies = new Latencies();
    if (error == null) {
      for (int i = 0; i < 1000; i++) {
        latencies.record((long) (micros * 1000));
      }
    }
    ProfileLayer layer =
        ProfileLayers.all(16).stream().filter(one -> one.id().equals(id)).findFirst().orElseThrow();
    long elapsed = (long) (micros * 1_000_000) / layer.threads();
    results.add(new ProfileResult(layer, latencies, elapsed, false, error));
    return this;
  }

  /** A flash disk: 2 us to encode, 3 more to write, 195 more to force. */
  static ProfileFigures flash() {
    return new ProfileFigures()
        .layer(ProfileLayers.ENCODE, 2)
        .layer(ProfileLayers.BUFFER, 2.1)
        .layer(ProfileLayers.WRITE, 5)
        .layer(ProfileLayers.FORCE_GROWING, 500)
        .layer(ProfileLayers.FORCE, 200)
        .layer(ProfileLayers.BOX, 0.5);
  }

  ProfileLedger ledger(ProfileDisk disk) {
    return new ProfileLedger(results, disk, 250);
  }

  ProfileReport report(ProfileDisk disk, int rate) {
    return new ProfileReport(
        Path.of("/data/<&\">\u001b[2J"),
        disk,
        ledger(disk),
        new ProfileReport.Settings(2, 250, 16, rate),
        Instant.parse("2026-11-30T14:03:07Z"),
        false,
        40,
        "2 processors, Linux 6.18, Java 17.0.15");
  }
}
