package cairn.bench;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * What no recorder can beat: clock, encoding, checksum and copy into off-heap memory without a
 * file. Its tail is the tail of the scheduler and of interrupts. One thread.
 */
final class MemoryTarget implements Target {
  private static final int CAPACITY = 2 << 20;
  private static final int HEADER_BYTES = 16;

  private final ByteBuffer ring =
      ByteBuffer.allocateDirect(CAPACITY).order(ByteOrder.LITTLE_ENDIAN);
  private final JsonLine line = new JsonLine();
  private final CRC32C crc = new CRC32C();
  private long position;

  @Override
  public void record(int index) {
    int length = line.encode(Payload.SMALL[index], System.currentTimeMillis());
    int slot = (HEADER_BYTES + length + 31) & -32;
    if ((int) (position % CAPACITY) + slot > CAPACITY) {
      position += CAPACITY - position % CAPACITY;
    }
    int offset = (int) (position % CAPACITY);
    crc.reset();
    crc.update(line.bytes(), 0, length);
    ring.putInt(offset + 8, (int) crc.getValue());
    ring.put(offset + HEADER_BYTES, line.bytes(), 0, length);
    ring.putLong(offset, position);
    position += slot;
  }

  @Override
  public void finish(long calls) {
    Evidence.require(position >= calls * 128, "bytes in memory", position, calls * 128);
    Evidence.require(ring.get(HEADER_BYTES) == '{', "first byte", ring.get(HEADER_BYTES), '{');
  }
}
