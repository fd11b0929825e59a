package cairn.journal;

import cairn.format.CborSlice;
import cairn.format.CborWriter;
import cairn.format.JournalLayout;
import cairn.format.KeyCache;
import cairn.format.Secrets;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What is not in the journal and why; itself a frame of the journal.
 *
 * @param id tells it from every other: a frame may come twice after an I/O error
 * @param count of records
 * @param from first missing number, or 0 if they never got one
 * @param to last missing number, or 0
 * @param reason {@link #DROPPED}, {@link #EVICTED} or {@link #LOST}
 */
record Gap(long id, long count, long from, long to, String reason) {
  /** Refused because staging was full. */
  static final String DROPPED = "dropped";

  /** Taken out of a full staging for newer ones. */
  static final String EVICTED = "evicted";

  /** An I/O error, and no copy left. */
  static final String LOST = "lost";

  private static final int MAX_BYTES = 96;

  byte[] encode() {
    byte[] bytes = new byte[MAX_BYTES];
    CborWriter out = new CborWriter(bytes, new KeyCache(Secrets.NONE));
    out.reset(0, MAX_BYTES);
    out.beginMap();
    out.unsigned(JournalLayout.GAP_COUNT);
    out.unsigned(count);
    if (from > 0) {
      out.unsigned(JournalLayout.GAP_FROM);
      out.unsigned(from);
      out.unsigned(JournalLayout.GAP_TO);
      out.unsigned(to);
    }
    out.unsigned(JournalLayout.GAP_REASON);
    out.text(reason);
    out.unsigned(JournalLayout.GAP_ID);
    out.unsigned(id);
    out.end();
    return java.util.Arrays.copyOf(bytes, out.position());
  }

  /** {@return what a frame's payload says, or null if it is no gap} */
  static @Nullable Gap decode(byte[] payload) {
    CborSlice slice = CborSlice.of(payload, 0, payload.length);
    if (slice == null) {
      return null;
    }
    Map<String, CborSlice> map = slice.entries();
    CborSlice reason = map.get(String.valueOf(JournalLayout.GAP_REASON));
    String text = reason == null ? null : reason.text();
    long count = number(map, JournalLayout.GAP_COUNT);
    return text == null || count <= 0
        ? null
        : new Gap(
            number(map, JournalLayout.GAP_ID),
            count,
            number(map, JournalLayout.GAP_FROM),
            number(map, JournalLayout.GAP_TO),
            text);
  }

  private static long number(Map<String, CborSlice> map, int key) {
    CborSlice slice = map.get(String.valueOf(key));
    OptionalLong value = slice == null ? OptionalLong.empty() : slice.unsigned();
    return value.orElse(0);
  }
}
