package cairn.format;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds secrets in encoded text by their form, and writes {@link Secrets#MARK} over them.
 *
 * <p>Any thread; no allocation. Forms: card numbers (14 to 19 digits that begin as a network's do,
 * with a right check digit, in groups or not), bearer tokens, JSON web tokens, private keys in PEM,
 * {@code user:password} in URLs, and values after names such as {@code password=}, {@code
 * "token":}, {@code Cookie:} or {@code <secret>}.
 */
final class SecretText {
  /*
   * Nearly no text holds a secret, so `scan` only asks whether one is possible, 8 bytes at a time;
   * `redact` then reads byte by byte.
   *
   * Words: each has at least 7 characters, so one of its first four 4-grams begins at a multiple of
   * 4 from the start of the text, whatever the word's place. These grams are in a table without
   * collisions, and every fourth position is looked up in it, with the bit that tells upper from
   * lower case set. A word of 6 gets what may follow it, one of 5 what may precede it as well.
   * Cards: 14 digits or more, separated behind four at the earliest, fill one group of 4 bytes; a run
   * of digits is then counted at once. URLs: an '@'. Each may be wrong, and then `redact` finds
   * nothing; none overlooks what `redact` finds, as SecretTextTest sees.
   */

  /** Of {@link #scan}: there may be a card's number. */
  static final int CARD = 2;

  /** Of {@link #scan}: there may be a URL with a password. */
  static final int URL = 4;

  /** Of {@link #scan}: there may be a key or token, or the name of a secret. */
  static final int WORD = 8;

  /** What {@link #scan} takes at least; nothing shorter holds a secret. */
  static final int LEAST_BYTES = 8;

  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long ONES = 0x0101010101010101L;
  private static final long ATS = '@' * ONES;

  /** Tells lower case from upper case. */
  private static final long CASE_BITS = 0x20 * ONES;

  private static final long ZEROS = '0' * ONES;
  private static final long HIGH_NIBBLES = 0xf0f0f0f0f0f0f0f0L;

  private static final String[] WORDS = {
    "bearer ",
    "private",
    "password",
    "assphrase",
    "horization",
    "api_key",
    "api-key",
    "api key",
    "ess_key",
    "ess-key",
    "ess key",
    "session",
    "credential",
    "creditcard",
    "credit_card",
    "credit-card",
    "credit card",
    "cardnumber",
    "card_number",
    "card-number",
    "card number"
  };

  /** How JSON web tokens begin: alg, typ, kid, enc, x5t or jku first. These words are of 7 too. */
  private static final String[] WEB_TOKENS = {
    "eyJhbGc", "eyJ0eXA", "eyJraWQ", "eyJlbmM", "eyJ4NXQ", "eyJqa3U"
  };

  /** Words of 6 letters. */
  private static final String[] SHORTER_WORDS = {"passwd", "secret", "apikey", "esskey", "cookie"};

  private static final String SHORTEST_WORD = "token";
  private static final String AFTER = "=:\"'\\_k- >\t";

  private static final int GRAM_BITS = 11;
  private static final int GRAM_SHIFT = 32 - GRAM_BITS;

  /** Tried until no two grams met. */
  private static final int GRAM_MULTIPLIER = 0xB3E209C3;

  /** How many there are: a test sees that none was lost to another one's slot. */
  static final int GRAM_COUNT = 290;

  static final int[] GRAMS = grams();

  private static final byte[] BEGIN = ascii("-----BEGIN ");
  private static final byte[] END = ascii("-----END ");
  private static final byte[] PRIVATE_KEY = ascii("PRIVATE KEY");
  private static final byte[] DASHES = ascii("-----");
  private static final byte[] BEARER = ascii("bearer ");

  private static final byte[] WEB_TOKEN = ascii("eyJ");

  /** Names whose value is secret, in lower case; {@code -} stands for nothing, -, _ or a blank. */
  private static final byte[][] NAMES = {
    ascii("password"),
    ascii("passwd"),
    ascii("passphrase"),
    ascii("secret"),
    ascii("token"),
    ascii("api-key"),
    ascii("access-key"),
    ascii("private-key"),
    ascii("authorization"),
    ascii("cookie"),
    ascii("session-id"),
    ascii("credentials"),
    ascii("credential"),
    ascii("credit-card"),
    ascii("card-number")
  };

  private static final byte[] PASSWORD_NAME = NAMES[0];
  private static final byte[] PASSPHRASE_NAME = NAMES[2];
  private static final byte[] SECRET_NAME = NAMES[3];
  private static final byte[] TOKEN_NAME = NAMES[4];
  private static final byte[] AUTHORIZATION_NAME = NAMES[8];
  private static final byte[] COOKIE_NAME = NAMES[9];
  private static final byte[] KEY_SUFFIX = ascii("-key");
  private static final byte[] CLOSING_BRACE = ascii("}");

  /** Of {@code {bcrypt}} and the like. */
  private static final int MAX_SCHEME = 24;

  private static final int LEAST_DIGITS = 14;
  private static final int MOST_DIGITS = 19;
  private static final int LEAST_TOKEN = 8;

  /** A token of one case and no digit must be this long to be told from a word. */
  private static final int CERTAIN_TOKEN = 20;

  private static final int LEAST_WEB_TOKEN = 30;

  /** Digits at a cut that may be the beginning of a card number. */
  private static final int LEAST_CUT_DIGITS = 7;

  private SecretText() {}

  private static int[] grams() {
    int[] table = new int[1 << GRAM_BITS];
    for (String word : WORDS) {
      add(table, word, 4);
    }
    for (String word : WEB_TOKENS) {
      add(table, word, 4);
    }
    for (String word : SHORTER_WORDS) {
      add(table, word, 3);
    }
    add(table, SHORTEST_WORD, 2);
    for (int i = 0; i < AFTER.length(); i++) {
      String after = AFTER.substring(i, i + 1);
      for (String word : SHORTER_WORDS) {
        add(table, word.substring(3) + after, 1);
      }
      add(table, SHORTEST_WORD.substring(2) + after, 1);
    }
    // Whatever precedes it, also a part of a character that is not ASCII.
    for (char before = 0; before < 256; before++) {
      add(table, before + SHORTEST_WORD.substring(0, 3), 1);
    }
    return table;
  }

  private static void add(int[] table, String word, int grams) {
    for (int i = 0; i < grams; i++) {
      int gram = gram(word, i);
      table[slot(gram)] = gram;
    }
  }

  private static int gram(String word, int from) {
    int gram = 0;
    for (int i = 3; i >= 0; i--) {
      gram = gram << 8 | word.charAt(from + i) | 0x20;
    }
    return gram;
  }

  static int slot(int gram) {
    return (gram * GRAM_MULTIPLIER) >>> GRAM_SHIFT;
  }

  private static byte[] ascii(String s) {
    return s.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * {@return what the bytes from {@code from} to {@code to} may hold: {@link #CARD}, {@link #URL}
   * and {@link #WORD}, or 0}
   *
   * @param words the same bytes, little-endian
   * @param to at least {@link #LEAST_BYTES} behind {@code from}
   */
  static int scan(byte[] bytes, ByteBuffer words, int from, int to) {
    int[] grams = GRAMS;
    int last = to - 8;
    long ats = 0;
    int kinds = 0;
    int i = from;
    for (; i < last; i += 8) {
      long word = words.getLong(i);
      long at = word ^ ATS;
      ats |= (at - ONES) & ~at;
      kinds |= wordOrCard(word, grams, bytes, i, from, to);
    }
    // Four digits at the fourth place may be all that shows of a card, and the last step is at any.
    if (i > last && i + 4 <= to && (words.getInt(i) & (int) HIGH_NIBBLES) == (int) ZEROS) {
      kinds |= mayBeCard(bytes, i, from, to);
    }
    // Goes over some bytes again: what lies between the samples is never more than a gram.
    long word = words.getLong(last);
    long at = word ^ ATS;
    ats |= (at - ONES) & ~at;
    return kinds
        | wordOrCard(word, grams, bytes, last, from, to)
        | ((ats & HIGH_BITS) != 0 ? URL : 0);
  }

  private static int wordOrCard(long word, int[] grams, byte[] bytes, int at, int from, int to) {
    long folded = word | CASE_BITS;
    int first = (int) folded;
    int second = (int) (folded >>> 32);
    int kinds = grams[slot(first)] == first || grams[slot(second)] == second ? WORD : 0;
    // Four bytes from '0' to '?'.
    long notThree = (word & HIGH_NIBBLES) ^ ZEROS;
    if ((int) notThree == 0) {
      kinds |= mayBeCard(bytes, at, from, to);
    }
    if (notThree >>> 32 == 0) {
      kinds |= mayBeCard(bytes, at + 4, from, to);
    }
    return kinds;
  }

  /** Whether the digits around {@code at}, with separators, are as many as a card's number has. */
  private static int mayBeCard(byte[] b, int at, int from, int to) {
    // No further than it takes: a text of digits only would be read again at each of them.
    int digits = 0;
    for (int i = at; i < to && isOfNumber(b[i]) && digits < LEAST_DIGITS; i++) {
      digits += b[i] >= '0' ? 1 : 0;
    }
    for (int i = at - 1; i >= from && isOfNumber(b[i]) && digits < LEAST_DIGITS; i--) {
      digits += b[i] >= '0' ? 1 : 0;
    }
    return digits >= LEAST_DIGITS ? CARD : 0;
  }

  private static boolean isOfNumber(int c) {
    return isDigit(c) || c == ' ' || c == '-';
  }

  /**
   * Writes the mark over each secret in the text from {@code from} to {@code to}.
   *
   * @param kinds which to look for: flags of {@link #scan}
   * @param room where the text must end at the latest; without room for the mark stars stand for
   *     it, one for each byte
   * @param cut whether the text went on behind {@code to}: then what may be the beginning of a
   *     secret there is one
   * @return where the text ends now, in the low half; how many secrets there were, in the high half
   */
  static long redact(byte[] b, int from, int to, int kinds, int room, boolean cut) {
    int end = to;
    int found = 0;
    int i = from;
    while (i < end) {
      long secret = at(b, from, i, end, kinds, cut);
      if (secret == 0) {
        i++;
        continue;
      }
      int start = (int) secret;
      int stop = (int) (secret >>> 32);
      int length = stop - start;
      byte[] mark = Secrets.MARK_BYTES;
      if (end - length + mark.length <= room) {
        System.arraycopy(b, stop, b, start + mark.length, end - stop);
        System.arraycopy(mark, 0, b, start, mark.length);
        end += mark.length - length;
        i = start + mark.length;
      } else {
        Arrays.fill(b, start, stop, (byte) '*');
        i = stop;
      }
      found++;
    }
    return (long) found << 32 | end;
  }

  /** The secret that shows itself at {@code i}: its start and, in the high half, its end; or 0. */
  private static long at(byte[] b, int from, int i, int end, int kinds, boolean cut) {
    int c = b[i];
    if (c >= '0' && c <= ':') {
      if (c == ':') {
        return (kinds & URL) == 0 ? 0 : userInfo(b, i, end, cut);
      }
      return (kinds & CARD) != 0 && startsNumber(b, from, i) ? card(b, i, end, cut) : 0;
    }
    if ((kinds & WORD) == 0) {
      return 0;
    }
    return switch (c | 0x20) {
      case '-' -> privateKey(b, i, end);
      case 'b' -> bearer(b, from, i, end, cut);
      case 'e' -> webToken(b, from, i, end, cut);
      case 'p', 's', 't', 'a', 'c' -> named(b, from, i, end, cut);
      default -> 0;
    };
  }

  private static long secret(int start, int end) {
    return (long) end << 32 | start;
  }

  // ---- cards

  /** Whether a whole number may start here, and not the fraction of one. */
  private static boolean startsNumber(byte[] b, int from, int i) {
    if (i == from) {
      return true;
    }
    int before = b[i - 1];
    boolean fraction = before == '.' && i - 1 > from && isDigit(b[i - 2]);
    return !isWord(before) && before != '+' && !fraction;
  }

  private static long card(byte[] b, int i, int end, boolean cut) {
    long number = 0;
    int digits = 0;
    int group = 0;
    // Where the longest number ends that is a card's: what follows a blank may be another one.
    int stop = 0;
    int p = i;
    while (p < end) {
      int c = b[p];
      if (isDigit(c)) {
        if (digits == MOST_DIGITS) {
          return secretOrNone(i, stop);
        }
        // 19 digits fit, as unsigned.
        number = number * 10 + (c - '0');
        digits++;
        group++;
      } else if ((c == ' ' || c == '-') && group >= 4) {
        if (Cards.isNumber(number, digits)) {
          stop = p;
        }
        if (p + 1 < end && !isDigit(b[p + 1])) {
          break;
        }
        group = 0;
      } else {
        break;
      }
      p++;
    }
    if (p == end && cut && digits >= LEAST_CUT_DIGITS && Cards.mayBegin(number, digits)) {
      return secret(i, p);
    }
    if ((p == end || !isWord(b[p]))
        && (group >= 3 || group == digits)
        && Cards.isNumber(number, digits)) {
      stop = p;
    }
    return secretOrNone(i, stop);
  }

  private static long secretOrNone(int start, int stop) {
    return stop == 0 ? 0 : secret(start, stop);
  }

  // ---- URLs

  /** {@code ://user:password@} */
  private static long userInfo(byte[] b, int i, int end, boolean cut) {
    if (end - i < 4 || b[i + 1] != '/' || b[i + 2] != '/') {
      return 0;
    }
    int start = i + 3;
    if (start < end && b[start] == '[') {
      return 0; // an address
    }
    int authority = -1;
    int colon = -1;
    int at = -1;
    boolean dotted = false;
    int p = start;
    for (; p < end && !endsUrl(b[p]); p++) {
      int c = b[p];
      if (c == '@') {
        at = p;
      } else if (c == ':' && colon < 0 && authority < 0) {
        colon = p;
      } else if ((c == '/' || c == '?' || c == '#') && authority < 0) {
        authority = p;
        if (at >= 0 || colon < 0 || isPort(b, colon + 1, p)) {
          // Else the password itself has one of these, unescaped.
          break;
        }
      }
      dotted |= c == '.';
    }
    if (at < 0) {
      // The name of a host that is as long as a token has a dot.
      boolean open = cut && p == end && (colon >= 0 || (!dotted && p - start >= CERTAIN_TOKEN));
      return open ? secret(start, p) : 0;
    }
    boolean password = colon >= 0 && colon < at;
    return password || at - start >= CERTAIN_TOKEN ? secret(start, at) : 0;
  }

  private static boolean endsUrl(int c) {
    return (c >= 0 && c <= ' ') || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`';
  }

  private static boolean isPort(byte[] b, int from, int to) {
    for (int p = from; p < to; p++) {
      if (!isDigit(b[p])) {
        return false;
      }
    }
    return true;
  }

  // ---- keys and tokens

  /** From the line that begins it to the one that ends it, or to the end of the text. */
  private static long privateKey(byte[] b, int i, int end) {
    if (!starts(b, i, end, BEGIN)) {
      return 0;
    }
    int label = i + BEGIN.length;
    int dashes = find(b, label, Math.min(end, label + 40), DASHES);
    int labelEnd = dashes < 0 ? Math.min(end, label + 40) : dashes;
    if (find(b, label, labelEnd, PRIVATE_KEY) < 0) {
      return 0;
    }
    int last = find(b, labelEnd, end, END);
    if (last >= 0) {
      last = find(b, last + END.length, end, DASHES);
    }
    return secret(i, last < 0 ? end : last + DASHES.length);
  }

  private static long bearer(byte[] b, int from, int i, int end, boolean cut) {
    if ((i > from && isWord(b[i - 1])) || !startsFolded(b, i, end, BEARER)) {
      return 0;
    }
    int start = i + BEARER.length;
    while (start < end && b[start] == ' ') {
      start++;
    }
    int p = start;
    while (p < end && isTokenByte(b[p])) {
      p++;
    }
    boolean open = cut && p == end && p > start;
    return open || isToken(b, start, p) ? secret(start, p) : 0;
  }

  /** {@code eyJ….eyJ….…}: JSON in base64 begins like that. */
  private static long webToken(byte[] b, int from, int i, int end, boolean cut) {
    if ((i > from && isWord(b[i - 1])) || !starts(b, i, end, WEB_TOKEN)) {
      return 0;
    }
    boolean dotted = false;
    int p = i;
    while (p < end && (isWord(b[p]) || b[p] == '-' || b[p] == '_' || b[p] == '.')) {
      dotted |= b[p] == '.';
      p++;
    }
    boolean open = cut && p == end;
    return open || (dotted && p - i >= LEAST_WEB_TOKEN && beginsWebToken(b, i)) ? secret(i, p) : 0;
  }

  private static boolean beginsWebToken(byte[] b, int i) {
    for (String beginning : WEB_TOKENS) {
      if (is(b, i, beginning.length(), beginning)) {
        return true;
      }
    }
    return false;
  }

  /** Not a word of a language: "bearer authentication" is none. */
  private static boolean isToken(byte[] b, int from, int to) {
    if (to - from < LEAST_TOKEN) {
      return false;
    }
    if (to - from >= CERTAIN_TOKEN) {
      return true;
    }
    boolean lower = false;
    for (int p = from; p < to; p++) {
      int c = b[p];
      if (isDigit(c) || (lower && c >= 'A' && c <= 'Z')) {
        return true;
      }
      lower |= c >= 'a' && c <= 'z';
    }
    return false;
  }

  private static boolean isTokenByte(int c) {
    return isWord(c) || c == '-' || c == '.' || c == '_' || c == '~' || c == '+' || c == '/'
        || c == '=';
  }

  // ---- name and value

  private static long named(byte[] b, int from, int i, int end, boolean cut) {
    for (byte[] name : NAMES) {
      int p = afterName(b, i, end, name);
      if (p >= 0) {
        return value(b, from, i, p, end, name, cut);
      }
    }
    return 0;
  }

  /** Where the name that begins at {@code i} ends, or -1 if another one does. */
  private static int afterName(byte[] b, int i, int end, byte[] name) {
    int p = i;
    for (byte expected : name) {
      if (expected == '-') {
        if (p < end && (b[p] == '-' || b[p] == '_' || b[p] == ' ')) {
          p++;
        }
      } else if (p < end && (b[p] | 0x20) == expected) {
        p++;
      } else {
        return -1;
      }
    }
    return p;
  }

  private static long value(
      byte[] b, int from, int i, int afterName, int end, byte[] name, boolean cut) {
    int p = afterName;
    if (name == SECRET_NAME) {
      p = Math.max(p, afterName(b, p, end, KEY_SUFFIX));
    }
    int nameEnd = p;
    p = afterTail(b, p, end, name);
    boolean tail = p > nameEnd;
    // The name may be quoted itself, in JSON within JSON too.
    boolean quotedName = false;
    while (p < end && (b[p] == '"' || b[p] == '\'' || b[p] == '\\')) {
      quotedName |= b[p] != '\\';
      p++;
    }
    boolean element = p == nameEnd && p < end && b[p] == '>';
    p = element ? p : spaces(b, p, end);
    if (p >= end || (b[p] != '=' && b[p] != ':' && !element)) {
      return 0;
    }
    boolean colon = b[p] == ':';
    if (colon && tail && !quotedName) {
      return 0; // prose
    }
    p++;
    while (p < end && (b[p] == '=' || b[p] == '>')) {
      p++;
    }
    p = spaces(b, p, end);
    if (p < end && b[p] == '[') {
      p++;
    }
    int backslashes = p;
    while (p < end && b[p] == '\\') {
      p++;
    }
    int start = p;
    if (p + 1 < end && b[p] == '{' && isWord(b[p + 1])) {
      // How a password is encoded: {noop}, {bcrypt}, {cipher}.
      int brace = find(b, p, Math.min(end, p + MAX_SCHEME), CLOSING_BRACE);
      p = brace < 0 ? p : brace + 1;
      start = p;
    }
    int stop;
    if (p < end && (b[p] == '"' || b[p] == '\'')) {
      start = p + 1;
      stop = closing(b, start, end, b[p], p - backslashes);
    } else {
      stop = start;
      boolean line = name == AUTHORIZATION_NAME || name == COOKIE_NAME;
      while (stop < end && !(line ? endsHeader(b[stop], name) : endsValue(b[stop]))) {
        stop++;
      }
    }
    boolean open = cut && stop == end;
    if (stop == start || (!open && isHarmless(b, start, stop))) {
      return 0;
    }
    // A parameter of a statement.
    if (!open && !colon && b[start] == ':' && isName(b, start + 1, stop)) {
      return 0;
    }
    // "unexpected token: name" is said by every parser; X-Auth-Token and accessToken by none.
    boolean compound = i > from && (isWord(b[i - 1]) || b[i - 1] == '-' || b[i - 1] == '_');
    if (name == TOKEN_NAME
        && colon
        && !quotedName
        && !compound
        && !open
        && !isToken(b, start, stop)) {
      return 0;
    }
    return secret(start, stop);
  }

  /** Behind what a name may go on with: {@code password_repeat}, {@code password2}. */
  private static int afterTail(byte[] b, int from, int end, byte[] name) {
    boolean password = name == PASSWORD_NAME || name == PASSPHRASE_NAME;
    if (from >= end || name == TOKEN_NAME) {
      return from;
    }
    int c = b[from];
    if (c != '_' && c != '-' && !(password && (isDigit(c) || (c >= 'A' && c <= 'Z')))) {
      return from;
    }
    int p = from;
    while (p < end && (isWord(b[p]) || b[p] == '_' || b[p] == '-')) {
      p++;
    }
    return p;
  }

  /**
   * The quote that ends a text, before its backslashes: it has no more than the one that began it.
   */
  private static int closing(byte[] b, int from, int end, int quote, int most) {
    int backslashes = 0;
    for (int p = from; p < end; p++) {
      if (b[p] == quote && backslashes <= most) {
        return p - backslashes;
      }
      backslashes = b[p] == '\\' ? backslashes + 1 : 0;
    }
    return end;
  }

  private static boolean endsHeader(int c, byte[] name) {
    return c == '"' || c == '\'' || (c == ',' && name != COOKIE_NAME) || (c >= 0 && c < ' ');
  }

  private static int spaces(byte[] b, int from, int end) {
    int p = from;
    while (p < end && (b[p] == ' ' || b[p] == '\t')) {
      p++;
    }
    return p;
  }

  private static boolean endsValue(int c) {
    return (c >= 0 && c <= ' ')
        || c == '&'
        || c == ';'
        || c == ','
        || c == '"'
        || c == '\''
        || c == '<'
        || c == '>'
        || c == ')'
        || c == ']'
        || c == '}'
        || c == '|'
        || c == '\\';
  }

  /** What is no secret: the mark itself, what stands for none, and where one is to be put in. */
  private static boolean isHarmless(byte[] b, int from, int to) {
    int length = to - from;
    int first = b[from];
    return is(b, from, length, "null")
        || is(b, from, length, "true")
        || is(b, from, length, "false")
        || is(b, from, length, "***")
        || is(b, from, length, "?")
        || is(b, from, length, "%s")
        || is(b, from, length, "{")
        || is(b, from, length, Secrets.MARK)
        || is(b, from, length, "<redacted")
        || (first == '$' && isPort(b, from + 1, to))
        || ((first == '$' || first == '#') && length > 1 && b[from + 1] == '{');
  }

  private static boolean isName(byte[] b, int from, int to) {
    for (int p = from; p < to; p++) {
      if (!(isWord(b[p]) || b[p] == '_' || b[p] == '.')) {
        return false;
      }
    }
    return to > from;
  }

  private static boolean is(byte[] b, int from, int length, String text) {
    if (length != text.length()) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (b[from + i] != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  // ---- bytes

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /** A letter or a digit of ASCII: in languages without blanks, others stand next to a number. */
  private static boolean isWord(int c) {
    int folded = c | 0x20;
    return isDigit(c) || (folded >= 'a' && folded <= 'z');
  }

  private static boolean starts(byte[] b, int i, int end, byte[] text) {
    if (end - i < text.length) {
      return false;
    }
    for (int k = 0; k < text.length; k++) {
      if (b[i + k] != text[k]) {
        return false;
      }
    }
    return true;
  }

  private static boolean startsFolded(byte[] b, int i, int end, byte[] text) {
    if (end - i < text.length) {
      return false;
    }
    for (int k = 0; k < text.length; k++) {
      if ((b[i + k] | 0x20) != text[k]) {
        return false;
      }
    }
    return true;
  }

  private static int find(byte[] b, int from, int end, byte[] text) {
    for (int i = from; i <= end - text.length; i++) {
      if (starts(b, i, end, text)) {
        return i;
      }
    }
    return -1;
  }
}
