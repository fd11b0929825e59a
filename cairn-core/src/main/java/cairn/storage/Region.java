package cairn.storage;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a mapped file (or of what stands for one), little-endian. The only place that stores
 * into them.
 *
 * <p>Any thread; no method waits. Access modes are in the names; a plain store is safe where the
 * caller owns the bytes (claimed, or under a lock) and publishes them with a release store.
 */
public class Region {
  /*
   * Release stores are a fence and a plain store, not a view VarHandle: the first use of such a
   * handle costs a cold caller 1 to 6 ms, and an aligned 8-byte put is one store on
   * every JVM that Cairn supports. The second fence keeps the compiler from moving the commit behind
   * later stores, or out of a loop: what returned must be in the page cache. On x86 neither emits
   * an instruction.
   *
   * Tests subclass this to see each store (CrashPoints); in production the one loaded class lets the
   * JIT inline everything here.
   */

  private final ByteBuffer buffer;

  /** Over all of a buffer; its position, limit and order don't matter. */
  public Region(ByteBuffer buffer) {
    this.buffer = buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  public final int size() {
    return buffer.capacity();
  }

  public void putLongPlain(int offset, long value) {
    buffer.putLong(offset, value);
  }

  public void putIntPlain(int offset, int value) {
    buffer.putInt(offset, value);
  }

  public void putBytesPlain(int offset, byte[] source, int from, int length) {
    buffer.put(offset, source, from, length);
  }

  /** Publishes every store before it. {@code offset} is a multiple of 8. */
  public void putLongRelease(int offset, long value) {
    VarHandle.releaseFence();
    buffer.putLong(offset, value);
    VarHandle.releaseFence();
  }

  public final long getLongPlain(int offset) {
    return buffer.getLong(offset);
  }

  public final int getIntPlain(int offset) {
    return buffer.getInt(offset);
  }

  public final byte getBytePlain(int offset) {
    return buffer.get(offset);
  }

  public final void getBytesPlain(int offset, byte[] target, int from, int length) {
    buffer.get(offset, target, from, length);
  }

  /** {@return a view of all bytes for copying them out; its own position and limit} */
  public final ByteBuffer view() {
    return buffer.duplicate();
  }
}
