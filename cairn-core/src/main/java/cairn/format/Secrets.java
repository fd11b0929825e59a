package cairn.format;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What must not be recorded: values by their key, parts of texts by their form, and what rules of
 * the application say.
 *
 * <p>Immutable; any thread.
 */
public final class Secrets {
  /** Stands for what was redacted. */
  public static final String MARK = "<redacted>";

  static final byte[] MARK_BYTES = MARK.getBytes(StandardCharsets.US_ASCII);

  /** A rule of the application. */
  @FunctionalInterface
  public interface Rule {
    /** {@return {@code text}, or what to record instead; null for the mark} */
    @Nullable String apply(@Nullable String key, String text);
  }

  /** Knows what the public type that names secrets holds, which its package keeps to itself. */
  public interface Access {
    /** {@return what {@code redaction} holds} */
    Secrets of(Object redaction);
  }

  /** Nothing is secret. */
  public static final Secrets NONE = new Secrets(false, new byte[0][], new byte[0][], null);

  /** The names and forms that are known everywhere. */
  public static final Secrets STANDARD = new Secrets(true, new byte[0][], new byte[0][], null);

  /*
   * A key is compared without case and separators: API_KEY, apiKey and X-Api-Key have the words api
   * and key. Names that are long enough to be unmistakable are secret wherever they occur
   * ("dbpassword"), others only where they end the key ("csrftoken", but neither
   * "tokenizer" nor "tokensUsed" nor "token_count"), or as words of it.
   */

  /** Secret wherever they occur in a key. */
  private static final byte[][] ANYWHERE =
      bytes(
          "password",
          "passwd",
          "passphrase",
          "secret",
          "authorization",
          "credential",
          "apikey",
          "accesskey",
          "privatekey",
          "cookie");

  /** Secret at the end of a key. */
  private static final byte[][] AT_END =
      bytes("token", "pwd", "jwt", "sessionid", "cardnumber", "creditcard", "dbpass", "userpass");

  /** Secret as words of a key. */
  private static final byte[][] WORDS = bytes("cvv", "cvc", "ssn");

  /** Secret as a whole key. */
  private static final byte[][] WHOLE = bytes("auth", "pass");

  /** First three letters of each name above, 5 bits a letter. */
  private static final long[] BEGINNINGS = beginnings();

  private static volatile @Nullable Access access;

  private final boolean standard;
  private final byte[][] keys;
  private final byte[][] allowed;
  private final @Nullable Rule rule;

  private Secrets(boolean standard, byte[][] keys, byte[][] allowed, @Nullable Rule rule) {
    this.standard = standard;
    this.keys = keys;
    this.allowed = allowed;
    this.rule = rule;
  }

  /** Lets {@link #of} ask {@code by}: called once, when the public type is loaded. */
  public static void access(Access by) {
    access = by;
  }

  /** {@return what a public {@code Redaction} holds} For the other packages of this module. */
  public static Secrets of(Object redaction) {
    Access by = access;
    if (by == null) {
      throw new IllegalStateException("nothing knows of redactions yet");
    }
    return by.of(redaction);
  }

  /** {@return these, and values under keys that have one of these names as words} */
  public Secrets withKeys(Collection<String> more) {
    return new Secrets(standard, joined(keys, more), allowed, rule);
  }

  /** {@return these, but not values under these keys} */
  public Secrets withAllowed(Collection<String> more) {
    return new Secrets(standard, keys, joined(allowed, more), rule);
  }

  /** {@return these, and what this rule says, after those that are there already} */
  public Secrets withRule(Rule more) {
    Rule first = rule;
    return new Secrets(
        standard,
        keys,
        allowed,
        first == null
            ? more
            : (key, text) -> {
              String result = first.apply(key, text);
              return result == null ? null : more.apply(key, result);
            });
  }

  private static byte[][] joined(byte[][] before, Collection<String> names) {
    List<byte[]> all = new ArrayList<>(List.of(before));
    for (String name : names) {
      byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
      Key key = new Key();
      key.set(utf8, 0, utf8.length);
      if (key.length == 0) {
        throw new IllegalArgumentException("key has no letter or digit: key=" + name);
      }
      all.add(Arrays.copyOf(key.bytes, key.length));
    }
    return all.toArray(byte[][]::new);
  }

  private static long[] beginnings() {
    long[] bits = new long[1 << 9];
    for (byte[][] names : new byte[][][] {ANYWHERE, AT_END, WORDS, WHOLE}) {
      for (byte[] name : names) {
        int beginning = (name[0] & 31) << 10 | (name[1] & 31) << 5 | (name[2] & 31);
        bits[beginning >> 6] |= 1L << beginning;
      }
    }
    return bits;
  }

  private static byte[][] bytes(String... names) {
    byte[][] all = new byte[names.length][];
    for (int i = 0; i < names.length; i++) {
      all[i] = names[i].getBytes(StandardCharsets.US_ASCII);
    }
    return all;
  }

  /** {@return whether keys are looked at} */
  boolean hasKeys() {
    return standard || keys.length != 0;
  }

  /** {@return whether texts are searched for {@link SecretText}} */
  boolean hasForms() {
    return standard;
  }

  /** {@return the rule of the application, or null} */
  public @Nullable Rule rule() {
    return rule;
  }

  /**
   * {@return whether the value under this key, in UTF-8, is secret} No allocation.
   *
   * @param scratch the caller's
   */
  public boolean isSecretKey(Key scratch, byte[] utf8, int from, int to) {
    if (!hasKeys() || (keys.length == 0 && !mayBeStandard(utf8, from, to))) {
      return false;
    }
    scratch.set(utf8, from, to);
    for (byte[] name : allowed) {
      if (scratch.is(name)) {
        return false;
      }
    }
    return (standard && isStandard(scratch)) || anyOf(keys, scratch);
  }

  /** Quick: whether the beginning of a standard name occurs. */
  private static boolean mayBeStandard(byte[] utf8, int from, int to) {
    int beginning = 0;
    for (int i = from; i < to; i++) {
      int c = utf8[i];
      if (c >= 0 && !isLetterOrDigit(c)) {
        continue; // as Key.set
      }
      beginning = (beginning << 5 | (c & 31)) & 0x7fff;
      if ((BEGINNINGS[beginning >> 6] >> beginning & 1) != 0) {
        return true;
      }
    }
    return false;
  }

  private static boolean isLetterOrDigit(int c) {
    int folded = c | 0x20;
    return (folded >= 'a' && folded <= 'z') || (c >= '0' && c <= '9');
  }

  private static boolean isStandard(Key key) {
    for (byte[] name : ANYWHERE) {
      if (key.indexOf(name, 0) >= 0) {
        return true;
      }
    }
    for (byte[] name : AT_END) {
      if (key.endsWith(name)) {
        return true;
      }
    }
    for (byte[] name : WORDS) {
      if (key.hasWords(name)) {
        return true;
      }
    }
    for (byte[] name : WHOLE) {
      if (key.is(name)) {
        return true;
      }
    }
    return false;
  }

  private static boolean anyOf(byte[][] names, Key key) {
    for (byte[] name : names) {
      if (key.hasWords(name)) {
        return true;
      }
    }
    return false;
  }

  /** A key in lower case without what is neither letter nor digit. One thread. */
  public static final class Key {
    private static final int MAX = KeyCache.MAX_KEY_BYTES;

    private final byte[] bytes = new byte[MAX];

    /**
     * Where words begin: behind a separator; at a capital behind a letter that is none, or before
     * one; at a digit behind a letter.
     */
    private final boolean[] starts = new boolean[MAX + 1];

    private int length;

    public Key() {}

    private void set(byte[] utf8, int from, int to) {
      boolean start = true;
      boolean lower = false;
      boolean capital = false;
      boolean digit = false;
      length = 0;
      for (int i = from; i < to && length < MAX; i++) {
        int c = utf8[i];
        boolean upper = c >= 'A' && c <= 'Z';
        boolean number = c >= '0' && c <= '9';
        if (upper || number || (c >= 'a' && c <= 'z') || c < 0) {
          if (capital && !upper && !number && !start) {
            starts[length - 1] = true; // "IBANNumber"
          }
          starts[length] = start || (upper && lower) || (number && !digit);
          bytes[length++] = (byte) (upper ? c | 0x20 : c);
          start = false;
          lower = !upper;
          capital = upper;
          digit = number;
        } else {
          start = true;
        }
      }
      starts[length] = true;
    }

    boolean is(byte[] name) {
      return length == name.length && matches(name, 0);
    }

    boolean endsWith(byte[] name) {
      return length >= name.length && matches(name, length - name.length);
    }

    /** Whether the name is one or more whole words. */
    boolean hasWords(byte[] name) {
      for (int i = indexOf(name, 0); i >= 0; i = indexOf(name, i + 1)) {
        int end = i + name.length;
        if (starts[i] && starts[end]) {
          return true;
        }
      }
      return false;
    }

    int indexOf(byte[] name, int from) {
      for (int i = from; i <= length - name.length; i++) {
        if (matches(name, i)) {
          return i;
        }
      }
      return -1;
    }

    private boolean matches(byte[] name, int at) {
      for (int k = 0; k < name.length; k++) {
        if (bytes[at + k] != name[k]) {
          return false;
        }
      }
      return true;
    }
  }
}
