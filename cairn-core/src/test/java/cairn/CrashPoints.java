package cairn;

import cairn.storage.Region;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * A box in memory that can be looked at as it was after every single store of an action: what a
 * process leaves behind that dies there.
 *
 * <p>One thread. A copy of many bytes counts as one store for each aligned word, zeros as one for
 * each line of the processor's cache, and is replayed in both directions, since nothing says in
 * which order a processor copies.
 */
final class CrashPoints {
  private static final int WORD = 8;
  private static final int LINE = 64;
  private static final int SECTOR = 512;
  private static final int MAX_SECTORS = 10;

  final MemoryBox memory;
  final Box box;

  private final List<List<Store>> stores = new ArrayList<>();

  /** Bytes that were stored in one piece. */
  private record Store(int offset, byte[] bytes) {
    void into(byte[] image) {
      System.arraycopy(bytes, 0, image, offset, bytes.length);
    }
  }

  CrashPoints(int spanSlots, int trailBytes) {
    memory = new MemoryBox(spanSlots, trailBytes, RecordingRegion::new);
    box = memory.box;
  }

  /** Notes what is stored, in order; each element the pieces of one call. */
  private final class RecordingRegion extends Region {
    RecordingRegion(ByteBuffer buffer) {
      super(buffer);
    }

    @Override
    public void putLongPlain(int offset, long value) {
      super.putLongPlain(offset, value);
      note(offset, Long.BYTES);
    }

    @Override
    public void putIntPlain(int offset, int value) {
      super.putIntPlain(offset, value);
      note(offset, Integer.BYTES);
    }

    @Override
    public void putBytesPlain(int offset, byte[] source, int from, int length) {
      super.putBytesPlain(offset, source, from, length);
      note(offset, length);
    }

    @Override
    public void putLongRelease(int offset, long value) {
      if (offset % WORD != 0) {
        throw new AssertionError("release store is not aligned: offset=" + offset);
      }
      super.putLongRelease(offset, value);
      note(offset, Long.BYTES);
    }

    private void note(int offset, int length) {
      List<Store> pieces = new ArrayList<>();
      int piece = isZero(offset, length) ? LINE : WORD;
      for (int at = offset; at < offset + length; ) {
        int next = Math.min(offset + length, (at / piece + 1) * piece);
        byte[] bytes = new byte[next - at];
        getBytesPlain(at, bytes, 0, bytes.length);
        pieces.add(new Store(at, bytes));
        at = next;
      }
      stores.add(pieces);
    }

    private boolean isZero(int offset, int length) {
      for (int at = offset; at < offset + length; at++) {
        if (getBytePlain(at) != 0) {
          return false;
        }
      }
      return true;
    }
  }

  /**
   * Runs the action, then hands over the box as it was before it, after each of its stores and
   * after it.
   *
   * @param reader of an image; must not keep it
   * @return how many images there were
   */
  int forEachStoreOf(Runnable action, Consumer<byte[]> reader) {
    byte[] before = memory.image();
    run(action);
    int images = replay(before, reader, false) + replay(before, reader, true);
    byte[] after = replayed(before);
    if (!Arrays.equals(after, memory.image())) {
      throw new AssertionError("a store went past the region");
    }
    return images;
  }

  /**
   * Runs the action, then hands over every mix of the sectors it has stored into, as they were
   * before or are after it: what a power loss leaves behind.
   *
   * @return how many images there were
   */
  int forEachMixOfSectors(Runnable action, Consumer<byte[]> reader) {
    byte[] before = memory.image();
    run(action);
    byte[] after = memory.image();
    TreeSet<Integer> dirty = new TreeSet<>();
    for (List<Store> pieces : stores) {
      pieces.forEach(piece -> dirty.add(piece.offset() / SECTOR));
    }
    List<Integer> sectors = List.copyOf(dirty);
    if (sectors.size() > MAX_SECTORS) {
      throw new AssertionError(
          "action is too large: sectors=" + sectors.size() + ", limit=" + MAX_SECTORS);
    }
    for (int mix = 0; mix < 1 << sectors.size(); mix++) {
      byte[] image = before.clone();
      for (int i = 0; i < sectors.size(); i++) {
        if ((mix >> i & 1) != 0) {
          int at = sectors.get(i) * SECTOR;
          System.arraycopy(after, at, image, at, SECTOR);
        }
      }
      reader.accept(image);
    }
    return 1 << sectors.size();
  }

  private void run(Runnable action) {
    stores.clear();
    action.run();
    if (stores.isEmpty()) {
      throw new AssertionError("the action stores nothing");
    }
  }

  private int replay(byte[] before, Consumer<byte[]> reader, boolean backwards) {
    byte[] image = before.clone();
    reader.accept(image);
    int images = 1;
    for (List<Store> pieces : stores) {
      for (int i = 0; i < pieces.size(); i++) {
        pieces.get(backwards ? pieces.size() - 1 - i : i).into(image);
        reader.accept(image);
        images++;
      }
    }
    return images;
  }

  private byte[] replayed(byte[] before) {
    byte[] image = before.clone();
    stores.forEach(pieces -> pieces.forEach(piece -> piece.into(image)));
    return image;
  }
}
