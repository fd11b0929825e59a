package cairn.format;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Redacts CBOR where it lies, in the same number of bytes.
 *
 * <p>One thread. What is redacted: values under secret keys but for true, false and null, at any
 * depth; parts of texts by their form; numbers of cards; and what a rule says. A text of secret
 * becomes {@link Secrets#MARK} and stars, or stars alone where it is shorter than the mark or a
 * part of a text; a number becomes 0 of the same width, a byte string zeros.
 */
final class CborRedactor {
  private static final int ELLIPSIS_SIZE = 3;
  private static final int ALL_FORMS = SecretText.CARD | SecretText.URL | SecretText.WORD;

  /** What to do with a field of a map whose keys are numbers. */
  enum Treatment {
    /** It is Cairn's own. */
    KEEP,
    /** Look for secrets in it. */
    SEARCH,
    /** All of it is secret, or unknown to this version. */
    REDACT
  }

  /** Says what to do with each field. */
  @FunctionalInterface
  interface Treatments {
    Treatment of(long field);
  }

  private final Secrets secrets;
  private final Secrets.Key words = new Secrets.Key();
  private byte[] bytes = {};
  private long values;

  CborRedactor(Secrets secrets) {
    this.secrets = secrets;
  }

  /** {@return how many values and keys were changed} */
  long values() {
    return values;
  }

  /** {@return whether what is under that key is secret} */
  boolean isSecret(String key) {
    byte[] utf8 = key.getBytes(StandardCharsets.UTF_8);
    return secrets.isSecretKey(words, utf8, 0, utf8.length);
  }

  /**
   * Redacts a map whose keys are numbers.
   *
   * @param name of what the fields are about, for rules
   */
  void fields(byte[] in, int from, int to, Treatments treatments, @Nullable String name)
      throws CborReader.Malformed {
    bytes = in;
    CborReader reader = new CborReader(in, from, to);
    if (reader.next() != CborReader.Kind.MAP) {
      return;
    }
    boolean open = reader.indefinite();
    long count = reader.argument();
    for (long i = 0; open || i != count; i++) {
      int at = reader.offset();
      CborReader.Kind kind = reader.next();
      if (kind == CborReader.Kind.BREAK) {
        return;
      }
      Treatment treatment = Treatment.REDACT;
      if (kind == CborReader.Kind.UNSIGNED) {
        treatment = treatments.of(reader.argument());
      } else {
        value(reader, kind, at, true, null);
      }
      if (treatment == Treatment.KEEP) {
        reader.skip();
      } else {
        value(reader, treatment == Treatment.REDACT, name);
      }
    }
  }

  /**
   * Erases from a span's begin entry what something later has taken the place of, in the same
   * number of bytes. Counts nothing: no report shows it.
   *
   * @param fields numbers of fields that are gone
   * @param attributes names of attributes that are gone
   */
  void erase(byte[] in, int from, int to, Set<Long> fields, Set<String> attributes)
      throws CborReader.Malformed {
    long counted = values;
    bytes = in;
    CborReader reader = new CborReader(in, from, to);
    reader.next();
    while (!reader.atEnd() && reader.next() == CborReader.Kind.UNSIGNED) {
      long field = reader.argument();
      if (field == SpanLayout.BEGIN_ATTRIBUTES) {
        eraseAttributes(reader, attributes);
      } else if (fields.contains(field)) {
        value(reader, true, null);
      } else {
        reader.skip();
      }
    }
    values = counted;
  }

  private void eraseAttributes(CborReader reader, Set<String> gone) throws CborReader.Malformed {
    if (reader.next() != CborReader.Kind.MAP) {
      return;
    }
    boolean open = reader.indefinite();
    long count = reader.argument();
    for (long i = 0; open || i != count; i++) {
      CborReader.Kind kind = reader.next();
      if (kind == CborReader.Kind.BREAK) {
        return;
      }
      if (gone.contains(reader.key(kind, 1))) {
        value(reader, true, null);
      } else {
        reader.skip();
      }
    }
  }

  /**
   * Searches a map of Cairn's own with keys of text.
   *
   * @param kept keys whose values are Cairn's vocabulary
   */
  void texts(byte[] in, int from, int to, Set<String> kept) throws CborReader.Malformed {
    bytes = in;
    CborReader reader = new CborReader(in, from, to);
    if (reader.next() != CborReader.Kind.MAP) {
      return;
    }
    boolean open = reader.indefinite();
    long count = reader.argument();
    for (long i = 0; open || i != count; i++) {
      CborReader.Kind kind = reader.next();
      if (kind == CborReader.Kind.BREAK) {
        return;
      }
      String key = reader.key(kind, 1);
      int at = reader.offset();
      CborReader.Kind value = kept.contains(key) ? null : reader.next();
      if (value == null) {
        reader.skip();
      } else if (value != CborReader.Kind.UNSIGNED) {
        // Numbers are clocks, pids and the like; a clock passes for a card's number for hours.
        value(reader, value, at, false, key);
      }
    }
  }

  /** Redacts a text that is a key, then a value, as an attribute is stored. */
  void attribute(byte[] in, int from, int to) throws CborReader.Malformed {
    bytes = in;
    CborReader reader = new CborReader(in, from, to);
    entry(reader, reader.next(), from, false);
  }

  private void value(CborReader reader, boolean secret, @Nullable String key)
      throws CborReader.Malformed {
    int at = reader.offset();
    value(reader, reader.next(), at, secret, key);
  }

  private void value(
      CborReader reader, CborReader.Kind kind, int at, boolean secret, @Nullable String key)
      throws CborReader.Malformed {
    switch (kind) {
      case UNSIGNED -> {
        if (secret || (secrets.hasForms() && Cards.isNumber(reader.argument()))) {
          zero(at, reader.offset());
        }
      }
      case NEGATIVE -> {
        if (secret) {
          zero(at, reader.offset());
        }
      }
      case FLOAT -> {
        if (secret || (secrets.hasForms() && Cards.isNumber(reader.number()))) {
          zero(at, reader.offset());
        }
      }
      case BYTES, TEXT -> {
        boolean isText = kind == CborReader.Kind.TEXT;
        if (!reader.indefinite()) {
          string(reader, isText, secret, key);
        } else {
          while (reader.nextChunk(kind)) {
            string(reader, isText, secret, key);
          }
        }
      }
      case TAG -> {
        if (secret && bytes[at] == (byte) 0xc3) {
          bytes[at] = (byte) 0xc2; // a big integer below zero, whose zero would be -1
        }
        value(reader, secret, key);
      }
      case ARRAY -> {
        boolean open = reader.indefinite();
        long count = reader.argument();
        for (long i = 0; open || i != count; i++) {
          int item = reader.offset();
          CborReader.Kind next = reader.next();
          if (next == CborReader.Kind.BREAK) {
            return;
          }
          value(reader, next, item, secret, key);
        }
      }
      case MAP -> {
        boolean open = reader.indefinite();
        long count = reader.argument();
        for (long i = 0; open || i != count; i++) {
          int item = reader.offset();
          CborReader.Kind next = reader.next();
          if (next == CborReader.Kind.BREAK) {
            return;
          }
          entry(reader, next, item, secret);
        }
      }
      default -> {} // true, false and null stay, as the recorder leaves them
    }
  }

  /** A key, whose head was read, and its value. */
  private void entry(CborReader reader, CborReader.Kind kind, int at, boolean secret)
      throws CborReader.Malformed {
    if (kind != CborReader.Kind.TEXT) {
      value(reader, kind, at, secret, null);
      value(reader, secret, null);
      return;
    }
    byte[] key;
    if (reader.indefinite()) {
      ByteArrayOutputStream joined = new ByteArrayOutputStream();
      while (reader.nextChunk(kind)) {
        joined.write(bytes, reader.start(), reader.end() - reader.start());
      }
      key = joined.toByteArray();
    } else {
      key = Arrays.copyOfRange(bytes, reader.start(), reader.end());
      string(reader, true, false, null);
    }
    value(
        reader,
        secret || secrets.isSecretKey(words, key, 0, key.length),
        new String(key, StandardCharsets.UTF_8));
  }

  private void string(CborReader reader, boolean isText, boolean secret, @Nullable String key) {
    int from = reader.start();
    int to = reader.end();
    byte[] before = Arrays.copyOfRange(bytes, from, to);
    if (!isText) {
      if (secret) {
        Arrays.fill(bytes, from, to, (byte) 0);
      }
    } else if (secret) {
      mask(from, to);
    } else {
      rule(from, to, before, key);
      if (secrets.hasForms()) {
        boolean cut = isCut(from, to);
        // No room for a mark: stars.
        SecretText.redact(bytes, from, cut ? to - ELLIPSIS_SIZE : to, ALL_FORMS, from, cut);
      }
    }
    if (!Arrays.equals(before, 0, before.length, bytes, from, to)) {
      values++;
    }
  }

  private boolean isCut(int from, int to) {
    return to - from >= ELLIPSIS_SIZE
        && bytes[to - 3] == (byte) 0xe2
        && bytes[to - 2] == (byte) 0x80
        && bytes[to - 1] == (byte) 0xa6;
  }

  private void rule(int from, int to, byte[] utf8, @Nullable String key) {
    Secrets.Rule rule = secrets.rule();
    if (rule == null) {
      return;
    }
    String text = new String(utf8, StandardCharsets.UTF_8);
    String result;
    try {
      result = rule.apply(key, text);
    } catch (RuntimeException e) {
      result = null; // it has found a secret, as far as anyone can tell
    }
    if (text.equals(result)) {
      return;
    }
    byte[] instead = result == null ? null : result.getBytes(StandardCharsets.UTF_8);
    if (instead == null || instead.length > to - from) {
      mask(from, to);
    } else {
      System.arraycopy(instead, 0, bytes, from, instead.length);
      Arrays.fill(bytes, from + instead.length, to, (byte) '*');
    }
  }

  private void mask(int from, int to) {
    Arrays.fill(bytes, from, to, (byte) '*');
    if (to - from >= Secrets.MARK_BYTES.length) {
      System.arraycopy(Secrets.MARK_BYTES, 0, bytes, from, Secrets.MARK_BYTES.length);
    }
  }

  /** Makes a number 0, of the same width. */
  private void zero(int at, int end) {
    byte[] before = Arrays.copyOfRange(bytes, at, end);
    int major = (bytes[at] & 0xff) >> 5;
    int width = bytes[at] & 31;
    if (major != 7) {
      bytes[at] = (byte) (width < 24 ? 0 : width);
    }
    Arrays.fill(bytes, at + 1, end, (byte) 0);
    if (!Arrays.equals(before, 0, before.length, bytes, at, end)) {
      values++;
    }
  }
}
