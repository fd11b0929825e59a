package cairn;

import cairn.format.VitalsLayout;
import cairn.storage.Region;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The two rings of samples: one a second, one a minute.
 *
 * <p>One thread at a time (the housekeeper, then whoever closes). Survives process death once
 * {@link #add} returns.
 */
final class Vitals {
  private static final int SECONDS_PER_MINUTE = 60;

  private final Region region;
  private final int secondsOffset;
  private final int secondsCount;
  private final int minutesOffset;
  private final int minutesCount;
  private final byte[] image = new byte[8 + VitalsLayout.SLOT_SIZE];
  private final ByteBuffer words = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
  private final CRC32C crc = new CRC32C();
  private long seconds;
  private long minutes;

  Vitals(
      Region region,
      long nonce,
      int secondsOffset,
      int secondsCount,
      int minutesOffset,
      int minutesCount) {
    this.region = region;
    this.secondsOffset = secondsOffset;
    this.secondsCount = secondsCount;
    this.minutesOffset = minutesOffset;
    this.minutesCount = minutesCount;
    words.putLong(0, nonce);
  }

  void add(long[] values) {
    for (int i = 0; i < VitalsLayout.COUNT; i++) {
      words.putLong(8 + VitalsLayout.VALUES_OFFSET + 8 * i, values[i]);
    }
    seconds++;
    store(secondsOffset, secondsCount, seconds);
    if (seconds % SECONDS_PER_MINUTE == 1) {
      minutes++;
      store(minutesOffset, minutesCount, minutes);
    }
  }

  private void store(int offset, int count, long sequence) {
    int length = VitalsLayout.VALUES_OFFSET + 8 * VitalsLayout.COUNT;
    words.putLong(8 + VitalsLayout.SEQUENCE_OFFSET, sequence);
    words.putInt(8 + VitalsLayout.LENGTH_OFFSET, length);
    words.putInt(8 + VitalsLayout.CRC_OFFSET, 0);
    crc.reset();
    crc.update(image, 0, 8 + length);
    words.putInt(8 + VitalsLayout.CRC_OFFSET, (int) crc.getValue());
    int target = offset + (int) ((sequence - 1) % count) * VitalsLayout.SLOT_SIZE;
    region.putBytesPlain(
        target + VitalsLayout.LENGTH_OFFSET,
        image,
        8 + VitalsLayout.LENGTH_OFFSET,
        length - VitalsLayout.LENGTH_OFFSET);
    // Release: publishes the sample. Partner: a reader's look at the sequence.
    region.putLongRelease(target + VitalsLayout.SEQUENCE_OFFSET, sequence);
  }
}
