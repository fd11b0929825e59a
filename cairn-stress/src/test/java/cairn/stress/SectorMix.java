package cairn.stress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Images of a directory after power cuts, made of sectors of successive snapshots of it.
 *
 * <p>A power cut leaves, of a file that is written to, any of the sectors that it had since the
 * last force. So an image takes a snapshot as its base, and each sector of a forced file from that
 * or from a later one; of a file that nobody forces from any, or zeros. What was durable before the
 * base was taken must be in the image.
 */
final class SectorMix {
  private static final int MAX_ATTEMPTS = 100;

  private final List<Map<String, byte[]>> snapshots = new ArrayList<>();
  private final Predicate<String> isForced;

  /**
   * @param isForced tells the files that are forced, by name
   */
  SectorMix(Predicate<String> isForced) {
    this.isForced = isForced;
  }

  /** Takes one more snapshot. */
  void take(Path directory) throws IOException {
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
      Map<String, byte[]> files = new TreeMap<>();
      try (Stream<Path> found = Files.walk(directory)) {
        for (Path file : found.filter(Files::isRegularFile).toList()) {
          files.put(directory.relativize(file).toString(), Files.readAllBytes(file));
        }
        snapshots.add(files);
        return;
      } catch (NoSuchFileException | java.io.UncheckedIOException e) {
        // Deleted or renamed meanwhile: what was read before may be older than that.
      }
    }
    throw new IOException("directory is never at rest: dir=" + directory);
  }

  /** {@return how many snapshots there are} */
  int size() {
    return snapshots.size();
  }

  /**
   * Writes an image.
   *
   * @param base the snapshot that is durable
   * @param sectorBytes what is written as a whole
   */
  void image(int base, int sectorBytes, Random random, Path into) throws IOException {
    TreeMap<String, List<byte[]>> versions = new TreeMap<>();
    for (int i = 0; i < snapshots.size(); i++) {
      for (Map.Entry<String, byte[]> file : snapshots.get(i).entrySet()) {
        boolean isOld = i < base && isForced.test(file.getKey());
        if (!isOld || !snapshots.get(base).containsKey(file.getKey())) {
          versions.computeIfAbsent(file.getKey(), name -> new ArrayList<>()).add(file.getValue());
        }
      }
    }
    for (Map.Entry<String, List<byte[]>> file : versions.entrySet()) {
      boolean isInBase = snapshots.get(base).containsKey(file.getKey());
      if (isInBase || random.nextBoolean()) {
        Path target = into.resolve(file.getKey());
        Files.createDirectories(target.getParent());
        boolean mayBeZero = !isForced.test(file.getKey());
        Files.write(target, mixed(file.getValue(), mayBeZero, sectorBytes, random));
      }
    }
  }

  private static byte[] mixed(
      List<byte[]> versions, boolean mayBeZero, int sectorBytes, Random random) {
    byte[] newest = versions.get(versions.size() - 1);
    byte[] mixed = Arrays.copyOf(newest, newest.length);
    if (mayBeZero && random.nextBoolean()) {
      Arrays.fill(mixed, (byte) 0); // nothing was written back, but for some sectors
    }
    // Some images are nearly whole: one sector in many is another.
    int oneIn = 1 << random.nextInt(8);
    for (int at = 0; at < mixed.length; at += sectorBytes) {
      if (random.nextInt(oneIn) != 0) {
        continue;
      }
      int end = Math.min(mixed.length, at + sectorBytes);
      int which = random.nextInt(versions.size() + (mayBeZero ? 1 : 0));
      if (which == versions.size()) {
        Arrays.fill(mixed, at, end, (byte) 0);
      } else if (versions.get(which).length >= end) {
        System.arraycopy(versions.get(which), at, mixed, at, end - at);
      }
    }
    return mixed;
  }
}
