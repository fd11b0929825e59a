package cairn.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One file of a {@link ModelDisk}: what a read returns now, and for each sector every content that
 * a power loss may leave there.
 *
 * <p>One thread at a time.
 */
final class ModelFile {
  /*
   * A sector is an array that nobody changes once it is here, so images share them. Versions are
   * kept only where there is more than one: oldest first, the current one last. A force collapses
   * what is dirty to its current version. A force that fails may have lost what was dirty: then it
   * is clean, and keeps its versions until it is written again, whatever is forced in between.
   */

  /** More would only repeat: a middle one goes. */
  private static final int MAX_VERSIONS = 40;

  /** A content and the step of the disk at which it came. */
  record Version(int step, byte[] bytes) {}

  /** A length and the step of the disk at which it came. */
  record Extent(int step, long length) {}

  final int sectorBytes;

  /** Whether power loss picks among its sectors at random: too many for every combination. */
  boolean isCoarse;

  private final byte[] zeros;
  private final List<byte[]> current = new ArrayList<>();
  private final TreeMap<Integer, List<Version>> versions = new TreeMap<>();
  private final TreeSet<Integer> dirty = new TreeSet<>();
  private final List<Extent> extents = new ArrayList<>();
  private boolean lengthDirty;

  ModelFile(int sectorBytes) {
    this.sectorBytes = sectorBytes;
    zeros = new byte[sectorBytes];
    extents.add(new Extent(0, 0));
  }

  ModelFile(ModelFile other) {
    sectorBytes = other.sectorBytes;
    isCoarse = other.isCoarse;
    zeros = other.zeros;
    current.addAll(other.current);
    other.versions.forEach((sector, all) -> versions.put(sector, new ArrayList<>(all)));
    dirty.addAll(other.dirty);
    extents.addAll(other.extents);
    lengthDirty = other.lengthDirty;
  }

  long length() {
    return extents.get(extents.size() - 1).length();
  }

  byte[] read() {
    byte[] bytes = new byte[(int) length()];
    read(0, bytes, 0, bytes.length);
    return bytes;
  }

  /** {@return how many bytes there were: 0 at the end of the file} */
  int read(long position, byte[] target, int from, int length) {
    int count = (int) Math.max(0, Math.min(length, length() - position));
    for (int done = 0; done < count; ) {
      int sector = (int) ((position + done) / sectorBytes);
      int at = (int) ((position + done) % sectorBytes);
      int piece = Math.min(count - done, sectorBytes - at);
      System.arraycopy(current.get(sector), at, target, from + done, piece);
      done += piece;
    }
    return count;
  }

  /**
   * Changes what a read returns; durable only once it is forced.
   *
   * @param stale what the device may show of a sector that is in the file before its content is;
   *     empty if zeros only
   */
  void write(int step, long position, byte[] source, int from, int length, List<byte[]> stale) {
    extend(step, position + length, stale);
    // What a failed force lost is written again with what lies behind its end.
    lengthDirty |= position + length > extents.get(0).length();
    for (int done = 0; done < length; ) {
      int sector = (int) ((position + done) / sectorBytes);
      int at = (int) ((position + done) % sectorBytes);
      int piece = Math.min(length - done, sectorBytes - at);
      byte[] bytes = current.get(sector).clone();
      System.arraycopy(source, from + done, bytes, at, piece);
      put(step, sector, bytes);
      done += piece;
    }
  }

  private void extend(int step, long length, List<byte[]> stale) {
    if (length <= length()) {
      return;
    }
    while ((long) current.size() * sectorBytes < length) {
      int sector = current.size();
      current.add(zeros);
      List<Version> all = new ArrayList<>();
      if (!stale.isEmpty()) {
        all.add(new Version(0, stale.get(sector % stale.size())));
      }
      all.add(new Version(0, zeros));
      versions.put(sector, all);
      dirty.add(sector);
    }
    extents.add(new Extent(step, length));
  }

  private void put(int step, int sector, byte[] bytes) {
    List<Version> all =
        versions.computeIfAbsent(
            sector, s -> new ArrayList<>(List.of(new Version(0, current.get(s)))));
    if (!Arrays.equals(all.get(all.size() - 1).bytes(), bytes)) {
      if (all.size() == MAX_VERSIONS) {
        all.remove(1 + step % (MAX_VERSIONS - 2));
      }
      all.add(new Version(step, bytes));
    }
    current.set(sector, bytes);
    dirty.add(sector);
  }

  void forceAll() {
    force(0, Long.MAX_VALUE);
  }

  /**
   * Makes the sectors of a range durable, and the length if the range ends there or the file is
   * forced as a whole; nothing else.
   */
  void force(long position, long length) {
    long end = length == Long.MAX_VALUE ? Long.MAX_VALUE : position + length;
    int first = (int) (position / sectorBytes);
    for (Integer sector : List.copyOf(dirty.tailSet(first))) {
      if (end <= (long) sector * sectorBytes) {
        break;
      }
      versions.remove(sector);
      dirty.remove(sector);
    }
    if (lengthDirty) {
      // Whatever shows the forced bytes is long enough for them.
      extents.removeIf(extent -> extent.length() < Math.min(end, length()));
      lengthDirty = extents.size() > 1;
    }
  }

  /** A force that failed: from now on nothing is dirty, and nothing of it became durable. */
  void dropDirty() {
    dirty.clear();
    lengthDirty = false;
  }

  /** {@return sectors with more than one possible content, and those} */
  Map<Integer, List<Version>> undecided() {
    versions.values().removeIf(all -> all.size() < 2);
    return versions;
  }

  /** {@return the possible lengths, oldest first} */
  List<Extent> extents() {
    return extents;
  }

  boolean hasDirty() {
    return !undecided().isEmpty() || extents.size() > 1;
  }

  /** {@return the sectors of the current content, shared} */
  List<byte[]> sectors() {
    return List.copyOf(current);
  }

  /** {@return a file that has just this content, durable} */
  ModelFile image(long length, Map<Integer, byte[]> decided) {
    ModelFile image = new ModelFile(sectorBytes);
    int count = (int) ((length + sectorBytes - 1) / sectorBytes);
    for (int sector = 0; sector < count; sector++) {
      image.current.add(decided.getOrDefault(sector, current.get(sector)));
    }
    // Behind the end nothing is kept.
    int tail = (int) (length % sectorBytes);
    if (tail != 0) {
      byte[] last = Arrays.copyOf(image.current.get(count - 1), tail);
      image.current.set(count - 1, Arrays.copyOf(last, sectorBytes));
    }
    image.extents.set(0, new Extent(0, length));
    return image;
  }

  /** Changes a byte for good: what a failing medium does. */
  void damage(long position, byte value) {
    int sector = (int) (position / sectorBytes);
    byte[] bytes = current.get(sector).clone();
    bytes[(int) (position % sectorBytes)] = value;
    current.set(sector, bytes);
    versions.remove(sector);
    dirty.remove(sector);
  }
}
