package cairn.sentry;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One envelope that was kept for sending: what is in it, and the event if there is one.
 *
 * <p>Reads headers, events and sessions; passes over all other payloads, however long they are.
 *
 * @param name of the file, with its folder
 * @param size of the file
 * @param eventId as its header says, 32 hex digits; null if it doesn't
 * @param items how many of each type, in order of the first
 * @param event its event or transaction; null if it has none that can be read
 * @param session its last session; null if it has none
 * @param sdk as its header says; null if it doesn't
 * @param isSound whether nothing in it is damaged
 */
record EnvelopeFile(
    String name,
    long size,
    @Nullable String eventId,
    Map<String, Integer> items,
    @Nullable FoundEvent event,
    @Nullable Map<String, @Nullable Object> session,
    @Nullable Object sdk,
    boolean isSound) {
  /*
   *   header \n ( item header \n payload \n )*          the last \n may be missing
   *
   * An item's header may say how long the payload is; else that ends with the line.
   */
  private static final int FIRST_LINE = 1024;
  private static final int MAX_LINE = 64 * FIRST_LINE;
  private static final int MAX_PAYLOAD = 4 << 20;
  private static final int MAX_ITEMS = 1_000;

  /** {@return the earliest time that is known of it; null if none is} */
  @Nullable Instant time() {
    if (event != null && event.time() != null) {
      return event.time();
    }
    return session == null ? null : SentryTime.of(session.get("timestamp"));
  }

  /** {@return what it holds, such as {@code event, 2 attachment}} */
  String contents() {
    List<String> parts = new ArrayList<>();
    items.forEach((type, count) -> parts.add(count == 1 ? type : count + " " + type));
    return parts.isEmpty() ? "no item" : String.join(", ", parts);
  }

  /** {@return what could be read; null if nothing, which is then noted} */
  static @Nullable EnvelopeFile read(String name, CacheFolder folder) {
    try (SeekableByteChannel channel = folder.open(name)) {
      return channel == null ? null : new Reader(channel, name, folder).read();
    } catch (IOException | SecurityException e) {
      folder.unreadable(name, e);
      return null;
    }
  }

  private static final class Reader {
    private final SeekableByteChannel channel;
    private final String name;
    private final CacheFolder folder;
    private final long size;
    private final Map<String, Integer> items = new LinkedHashMap<>();
    private @Nullable FoundEvent event;
    private @Nullable Map<String, @Nullable Object> session;
    private long at;
    private boolean isSound = true;

    Reader(SeekableByteChannel channel, String name, CacheFolder folder) throws IOException {
      this.channel = channel;
      this.name = name;
      this.folder = folder;
      this.size = channel.size();
    }

    EnvelopeFile read() throws IOException {
      if (size == 0) {
        folder.warning(name, "envelope is empty: the writer died, or the disk was full");
        return new EnvelopeFile(name, 0, null, Map.of(), null, null, null, false);
      }
      Map<String, @Nullable Object> header = line("envelope header");
      for (int i = 0; header != null && at < size && i < MAX_ITEMS; i++) {
        if (!item()) {
          break;
        }
      }
      if (header != null && items.isEmpty() && isSound) {
        damaged("envelope has no item: offset=" + at + " (its writer died after the header)");
      }
      Object id = header == null ? null : header.get("event_id");
      return new EnvelopeFile(
          name,
          size,
          id instanceof String text ? text : null,
          Collections.unmodifiableMap(items),
          event,
          session,
          header == null ? null : header.get("sdk"),
          isSound);
    }

    private boolean item() throws IOException {
      long begin = at;
      Map<String, @Nullable Object> header = line("item header");
      if (header == null) {
        return false;
      }
      String type = header.get("type") instanceof String text ? text : "item";
      long end = size;
      if (header.get("length") instanceof Long length) {
        if (length < 0) {
          return damaged("item length is negative: offset=" + begin + ", length=" + length);
        }
        if (length > size - at) {
          damaged(
              "item is cut: offset="
                  + begin
                  + ", type="
                  + type
                  + ", length="
                  + length
                  + ", there="
                  + (size - at));
        } else {
          end = at + length;
        }
        items.merge(type, 1, Integer::sum);
        payload(type, end);
        at = end;
        return end == size || newline();
      }
      // Without a length the payload is a line, of which only a short one is looked at.
      byte[] payload = upToNewline();
      items.merge(type, 1, Integer::sum);
      if (payload == null) {
        return damaged("item has no length and no end: offset=" + begin + ", type=" + type);
      }
      take(type, payload, at - payload.length);
      at += payload.length;
      return at == size || newline();
    }

    private boolean newline() throws IOException {
      byte[] next = bytes(at, 1);
      if (next.length == 1 && next[0] != '\n') {
        return damaged("item is not followed by a line end: offset=" + at);
      }
      at++;
      return true;
    }

    private void payload(String type, long end) throws IOException {
      if (!isRead(type)) {
        return;
      }
      if (end - at > MAX_PAYLOAD) {
        damaged(
            "item is too long to be read: offset="
                + at
                + ", length="
                + (end - at)
                + ", limit="
                + MAX_PAYLOAD);
        return;
      }
      take(type, bytes(at, (int) (end - at)), at);
    }

    private static boolean isRead(String type) {
      return type.equals("event") || type.equals("transaction") || type.equals("session");
    }

    private void take(String type, byte[] payload, long offset) {
      if (!isRead(type)) {
        return;
      }
      SalvagedJson json = SalvagedJson.of(payload);
      if (json.damage() != null) {
        damaged(
            type + " is damaged: " + json.damage() + ", offset=" + (offset + json.damageOffset()));
      }
      Map<String, @Nullable Object> object = json.object();
      if (object == null || object.isEmpty()) {
        return;
      }
      if (type.equals("session")) {
        session = object;
      } else if (event == null || type.equals("event")) {
        event = new FoundEvent(name, type, object);
      }
    }

    /** {@return the object on the next line, what of it is sound; null if there is none} */
    private @Nullable Map<String, @Nullable Object> line(String what) throws IOException {
      byte[] line = upToNewline();
      if (line == null) {
        damaged(what + " is longer than limit=" + MAX_LINE + ": offset=" + at);
        return null;
      }
      SalvagedJson json = SalvagedJson.of(line);
      if (json.damage() != null) {
        damaged(what + " is damaged: " + json.damage() + ", offset=" + (at + json.damageOffset()));
        return null;
      }
      Map<String, @Nullable Object> object = json.object();
      if (object == null) {
        damaged(what + " is no object: offset=" + at);
      }
      at = Math.min(size, at + line.length + 1);
      return object;
    }

    /** {@return the bytes before the next line end or the file's; null if that is too far away} */
    private byte @Nullable [] upToNewline() throws IOException {
      for (int most = FIRST_LINE; ; most *= 8) {
        byte[] bytes = bytes(at, (int) Math.min(most, size - at));
        for (int i = 0; i < bytes.length; i++) {
          if (bytes[i] == '\n') {
            return Arrays.copyOf(bytes, i);
          }
        }
        if (at + bytes.length >= size) {
          return bytes;
        }
        if (most >= MAX_LINE) {
          return null;
        }
      }
    }

    private byte[] bytes(long offset, int length) throws IOException {
      channel.position(offset);
      byte[] bytes = CacheFolder.read(channel, length);
      if (bytes.length < length) {
        throw new EOFException("file became shorter while it was read");
      }
      return bytes;
    }

    /** {@return false} */
    private boolean damaged(String text) {
      isSound = false;
      folder.warning(name, text);
      return false;
    }
  }
}
