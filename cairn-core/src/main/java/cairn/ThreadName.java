package cairn;

import cairn.format.CborWriter;
import org.jspecify.annotations.Nullable;

/**
 * The name of the thread that used this last, encoded. Owned by one thread at a time; no
 * allocation.
 */
final class ThreadName {
  private static final int MAX_BYTES = 96;

  private final byte[] bytes = new byte[2 + MAX_BYTES];
  private int length;
  private @Nullable String source;

  /** Writes the current thread's name as a text, cut at 96 bytes. */
  @SuppressWarnings("ReferenceEquality")
  void write(CborWriter out) {
    String name = Thread.currentThread().getName();
    // Identity: a thread keeps one String until it is renamed; an equal one merely encodes again.
    if (name != source) {
      int start = out.position();
      if (out.textCut(name, MAX_BYTES) != CborWriter.NONE) {
        length = out.position() - start;
        System.arraycopy(out.bytes(), start, bytes, 0, length);
        source = name;
      }
      return;
    }
    out.raw(bytes, 0, length);
  }
}
