package cairn;

import cairn.format.CborReader;
import cairn.format.SpanLayout;

/**
 * Where the latest name of an open span and that of the thread that began it lie in a copy of their
 * entries, as UTF-8.
 *
 * <p>One thread.
 */
final class SpanNames {
  final byte[] bytes;
  int from;
  int length;
  int threadFrom;
  int threadLength;

  SpanNames(int slotSize) {
    bytes = new byte[slotSize];
  }

  /** Copies them; false if that span has ended. A name that is missing has no length. */
  boolean read(SpanTable spans, int slot, long state) {
    length = 0;
    threadLength = 0;
    int size = spans.beginEntry(slot, state, bytes);
    if (size == 0) {
      return false;
    }
    try {
      CborReader entry = new CborReader(bytes, 0, size);
      entry.next();
      while (!entry.atEnd() && entry.next() == CborReader.Kind.UNSIGNED) {
        long key = entry.argument();
        if (key != SpanLayout.BEGIN_NAME && key != SpanLayout.BEGIN_THREAD) {
          entry.skip();
          continue;
        }
        boolean isText = entry.next() == CborReader.Kind.TEXT && !entry.indefinite();
        if (isText && key == SpanLayout.BEGIN_NAME) {
          from = entry.start();
          length = entry.end() - entry.start();
        } else if (isText) {
          threadFrom = entry.start();
          threadLength = entry.end() - entry.start();
        }
      }
      int later = spans.nameEntry(slot, state, bytes, size);
      if (later > 0) {
        entry = new CborReader(bytes, size, size + later);
        if (entry.next() == CborReader.Kind.UNSIGNED
            && entry.argument() == SpanLayout.NOTE_NAME
            && entry.next() == CborReader.Kind.TEXT
            && !entry.indefinite()) {
          from = entry.start();
          length = entry.end() - entry.start();
        }
      }
    } catch (CborReader.Malformed e) {
      // A name that Cairn has not written so; it has none then.
    }
    return true;
  }
}
