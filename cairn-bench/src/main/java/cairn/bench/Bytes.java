package cairn.bench;

import java.io.OutputStream;

/** A stream into one array that is used again. One thread. */
final class Bytes extends OutputStream {
  static final int CAPACITY = 1 << 20;

  private final byte[] array = new byte[CAPACITY];
  private int length;

  void reset() {
    length = 0;
  }

  byte[] array() {
    return array;
  }

  int length() {
    return length;
  }

  @Override
  public void write(int b) {
    array[length++] = (byte) b;
  }

  @Override
  public void write(byte[] b, int offset, int count) {
    System.arraycopy(b, offset, array, length, count);
    length += count;
  }
}
