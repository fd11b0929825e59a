package cairn.format;

import java.io.File;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Calendar;
import java.util.ConcurrentModificationException;
import java.util.Date;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.RandomAccess;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicMarkableReference;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.AtomicStampedReference;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Encodes whatever the application passes as CBOR, in one pass, bounded by {@link EncodeLimits}.
 *
 * <p>One thread at a time, but the values may change meanwhile. No allocation for maps, lists and
 * arrays of strings, numbers and booleans. A bad value never throws and never costs another one:
 * what throws becomes the text {@code <threw ClassName>}, what contains itself {@code <cycle>};
 * both are counted in {@link #placeholders()}; of errors that must not be swallowed, the first is
 * thrown by {@link #rethrowFatal}. What is beyond a limit is cut, visibly, and counted in {@link
 * #cuts()}: a cut text ends in {@code …}, a cut array has the last element {@code "…"}, a cut map
 * the last entry {@code "…": true}, and {@code "…"} stands for what lies too deep.
 *
 * <p>Forms: null, booleans, integers, floats (32 and 64 bits, NaN and infinities included), big
 * integers and decimals as such; text for characters, character sequences, enums (name), and by
 * {@code toString} for all that isn't named here, java.time, UUID, URI, Path and File included;
 * ISO-8601 for Date and Calendar; a byte string for byte arrays and buffers; arrays, collections
 * and iterables as arrays; maps, map entries, records and throwables as maps with text keys;
 * optionals and atomics as what they hold.
 */
public final class ValueEncoder {
  /*
   * Always well-formed. A container is opened only if the bytes that end it, and those that mark it as
   * cut, are below the limit as well; the limit is then lowered by them until it is closed. So a
   * container at any depth can be ended at any moment, and whatever doesn't fit is simply not there:
   * each step either writes one whole item or moves nothing.
   *
   * User code runs in few places: `other` (all but the commonest types) and `key`. Both note position,
   * limit and depth, and put them back if something is thrown; then a placeholder is written
   * where the value would be. User code may call Cairn again: it gets another scratch, and nothing
   * here is static and mutable.
   *
   * Caught: everything, StackOverflowError included: the stack is unwound to where there's room
   * again. Other VirtualMachineErrors and ThreadDeath are kept, and thrown by `rethrowFatal` when the
   * record is where it belongs. Out of memory isn't the value's fault, concerns the application
   * more than this record, and is what the application's own policy (exit, dump, restart) waits for:
   * hiding it would be the black box changing the flight; and what led up to it is what the box is
   * for.
   *
   * No allocation: HashMap and its like are walked by forEach with one consumer that lives as long as
   * the encoder, since the iterator and the entry set of a fresh map are objects that escape. A
   * Map.of of one entry is asked for it by a key that equals any; one of more is walked by its
   * iterator, in a small loop of its own, counted, which the compiler mostly dissolves. Other maps
   * aren't trusted with the consumer: they might keep it, or swallow the exception that stops them.
   */

  /** Of one container: its end byte; and its last element if it is cut. */
  private static final int ARRAY_RESERVE = 1 + 4;

  private static final int MAP_RESERVE = 1 + 5;
  private static final String ELLIPSIS = "…";

  private static final List<String> THROWABLE_PARTS =
      List.of("type", "message", "stack", "cause", "suppressed");

  /** Of a container: nothing was written; something stands in its place; it is open. */
  private static final int NOTHING = 0;

  private static final int REPLACED = 1;
  private static final int ENTERED = 2;

  private static final Class<?> MAP_OF_ONE = Map.of(0, 0).getClass();
  private static final Class<?> MAP_OF_MORE = Map.of(0, 0, 1, 1).getClass();

  private static final ClassValue<Components> COMPONENTS = new ComponentsOfClass();

  private final CborWriter out;
  private final int maxBytes;
  private final int maxNodes;
  private final int maxStringBytes;
  private final int maxElements;
  private final int maxStackFrames;
  private final Entries entries = new Entries();
  private final AnyKey anyKey = new AnyKey();
  private final @Nullable Forms forms;
  private final Secrets.@Nullable Rule rule;
  private final @Nullable Object[] path;
  private int depth;
  private int nodes;

  /** Entries of the map being walked; {@code Integer.MAX_VALUE} once one was refused. */
  private int walked;

  private int cuts;
  private int placeholders;

  /** Key of the value that is being encoded; only kept for a rule. */
  private @Nullable String ruledKey;

  private @Nullable Error fatal;

  /** An encoder that writes to {@code out}, without forms of the application. */
  public ValueEncoder(CborWriter out, EncodeLimits limits) {
    this(out, limits, Forms.NONE);
  }

  /** An encoder that writes to {@code out}. */
  public ValueEncoder(CborWriter out, EncodeLimits limits, Forms forms) {
    this.out = out;
    this.forms = forms.isEmpty() ? null : forms;
    this.rule = out.secrets().rule();
    this.maxBytes = limits.maxBytes();
    this.maxNodes = limits.maxNodes();
    this.maxStringBytes = limits.maxStringBytes();
    this.maxElements = limits.maxElements();
    this.maxStackFrames = limits.maxStackFrames();
    this.path = new @Nullable Object[limits.maxDepth()];
  }

  /**
   * Encodes one value at the writer's position.
   *
   * @return false if nothing could be written; then the position is unchanged
   */
  public boolean value(@Nullable Object v) {
    int position = out.position();
    int limit = out.limit();
    nodes = 0;
    walked = 0;
    boolean written = false;
    try {
      if (limit - position > maxBytes) {
        out.limit(position + maxBytes);
      }
      written = any(v);
    } catch (StackOverflowError e) {
      placeholders++;
    } finally {
      if (written) {
        out.limit(limit);
      } else {
        restore(position, limit, 0);
      }
    }
    return written;
  }

  /**
   * As {@link #value}, of a value that has a name.
   *
   * @param secret whether the name says that the value is
   */
  public boolean value(@Nullable String key, boolean secret, @Nullable Object v) {
    if (secret && v != null && !(v instanceof Boolean)) {
      return out.redacted();
    }
    if (rule == null) {
      return value(v);
    }
    ruledKey = key;
    boolean written = value(v);
    ruledKey = null;
    return written;
  }

  /** As {@link #value}, but always a map: what stands for one is its only entry, {@code …}. */
  public boolean map(Map<String, ?> m) {
    int start = out.position();
    return value(m) && (out.isMap(start) || out.wrap(start));
  }

  /** {@return texts, arrays, maps and levels cut since the last {@link #resetCounts}} */
  public int cuts() {
    return cuts;
  }

  /** {@return values replaced by a placeholder since the last {@link #resetCounts}} */
  public int placeholders() {
    return placeholders;
  }

  public void resetCounts() {
    cuts = 0;
    placeholders = 0;
    out.redactions(0);
  }

  /**
   * Throws what a value threw that is not the value's fault (see the class comment), if there was
   * such an error since the last call. To be called when the record is where it belongs.
   */
  public void rethrowFatal() {
    Error e = fatal;
    if (e != null) {
      fatal = null;
      throw e;
    }
  }

  /**
   * Encodes a text of the application, as a value is.
   *
   * @param maxBytes of the content
   * @return as {@link CborWriter#textCut}
   */
  public int text(@Nullable String key, String s, int maxBytes) {
    return out.textCut(rule == null ? s : ruled(key, s), maxBytes);
  }

  /** {@return what a rule of the application makes of a text} */
  public String ruled(@Nullable String key, String s) {
    ruledKey = key;
    String result = ruled(s);
    ruledKey = null;
    return result;
  }

  /** Writes one whole item, or moves nothing. Order: by frequency. */
  private boolean any(@Nullable Object v) {
    nodes++;
    if (v instanceof String s) {
      return text(s);
    }
    if (v instanceof Long n) {
      return out.number(n);
    }
    if (v instanceof Integer n) {
      return out.integer(n);
    }
    if (v instanceof Boolean b) {
      return out.bool(b);
    }
    if (v instanceof Double d) {
      return out.number(d);
    }
    if (v == null) {
      return out.nul();
    }
    return guarded(v);
  }

  /** All that may run code of the application. */
  private boolean guarded(Object v) {
    int position = out.position();
    int limit = out.limit();
    int level = depth;
    int walkedBefore = walked;
    int cutsBefore = cuts;
    int placeholdersBefore = placeholders;
    int redactionsBefore = out.redactions();
    Failure failure;
    try {
      if (v instanceof Failure f) {
        failure = f;
      } else if (forms != null) {
        return formed(forms, v);
      } else {
        return v instanceof Map<?, ?> m ? mapOf(m) : other(v);
      }
    } catch (Throwable e) {
      failure = failed(e);
      restore(position, limit, level);
      walked = walkedBefore;
      cuts = cutsBefore;
      placeholders = placeholdersBefore;
      out.redactions(redactionsBefore);
    }
    if (!out.text(failure.toString())) {
      return false;
    }
    placeholders++;
    return true;
  }

  /** By the application's form if there is one; a form that returns the value itself is none. */
  @SuppressWarnings("ReferenceEquality")
  private boolean formed(Forms registered, Object v) {
    Function<Object, @Nullable Object> form = registered.of(v.getClass());
    if (form != null) {
      Object instead = form.apply(v);
      if (instead != v) {
        return inner(v, instead);
      }
    }
    return v instanceof Map<?, ?> m ? mapOf(m) : other(v);
  }

  private boolean other(Object v) {
    if (v instanceof List<?> l && l instanceof RandomAccess) {
      return list(l);
    }
    if (v instanceof Number n) {
      return number(n);
    }
    if (v instanceof Enum<?> e) {
      return text(e.name());
    }
    if (v instanceof CharSequence s) {
      return sequence(s);
    }
    if (v instanceof Character c) {
      return text(c.toString());
    }
    if (v.getClass().isArray()) {
      return array(v);
    }
    if (v instanceof Throwable t) {
      return throwable(t);
    }
    if (v instanceof Path) {
      // An Iterable of itself.
      return text(v.toString());
    }
    if (v instanceof Iterable<?> i) {
      return iterable(i);
    }
    if (v instanceof Record r) {
      return record(r);
    }
    if (v instanceof Map.Entry<?, ?> e) {
      return entryAlone(e);
    }
    if (v instanceof ByteBuffer b) {
      return buffer(b);
    }
    if (v instanceof Optional<?> o) {
      return inner(v, o.isPresent() ? o.get() : null);
    }
    if (v instanceof AtomicReference<?> r) {
      return inner(v, r.get());
    }
    if (v instanceof AtomicReferenceArray<?> a) {
      return atomics(a);
    }
    if (v instanceof AtomicMarkableReference<?> r) {
      return inner(v, r.getReference());
    }
    if (v instanceof AtomicStampedReference<?> r) {
      return inner(v, r.getReference());
    }
    return simple(v);
  }

  /** What has neither parts nor a form of its own is text. */
  @SuppressWarnings("JavaUtilDate") // The application's choice.
  private boolean simple(Object v) {
    if (v instanceof UUID u) {
      return out.uuid(u.getMostSignificantBits(), u.getLeastSignificantBits());
    }
    if (v instanceof AtomicBoolean b) {
      return out.bool(b.get());
    }
    if (v instanceof OptionalInt o) {
      return o.isPresent() ? out.integer(o.getAsInt()) : out.nul();
    }
    if (v instanceof OptionalLong o) {
      return o.isPresent() ? out.number(o.getAsLong()) : out.nul();
    }
    if (v instanceof OptionalDouble o) {
      return o.isPresent() ? out.number(o.getAsDouble()) : out.nul();
    }
    if (v instanceof AtomicIntegerArray a) {
      return numbers(a, a.length());
    }
    if (v instanceof AtomicLongArray a) {
      return numbers(a, a.length());
    }
    if (v instanceof Date d) {
      // Not toInstant: java.sql.Date refuses it.
      return text(Instant.ofEpochMilli(d.getTime()).toString());
    }
    if (v instanceof Calendar c) {
      return text(Instant.ofEpochMilli(c.getTimeInMillis()).toString());
    }
    if (v instanceof TimeZone z) {
      return orNull(z.getID());
    }
    if (v instanceof Locale l) {
      return text(l.toLanguageTag());
    }
    if (v instanceof URL u) {
      return orNull(u.toExternalForm());
    }
    if (v instanceof File f) {
      return orNull(f.getPath());
    }
    if (v instanceof Class<?> c) {
      return text(c.getName());
    }
    return orNull(v.toString());
  }

  private boolean number(Number n) {
    if (n instanceof Float f) {
      return out.single(f);
    }
    if (n instanceof Short || n instanceof Byte || n instanceof AtomicInteger) {
      return out.integer(n.intValue());
    }
    if (n instanceof AtomicLong || n instanceof LongAdder || n instanceof LongAccumulator) {
      return out.number(n.longValue());
    }
    if (n instanceof BigInteger i) {
      return bigInteger(i);
    }
    if (n instanceof BigDecimal d) {
      return bigDecimal(d);
    }
    if (n instanceof DoubleAdder || n instanceof DoubleAccumulator) {
      return out.number(n.doubleValue());
    }
    return orNull(n.toString());
  }

  private boolean bigInteger(BigInteger i) {
    int bits = i.bitLength();
    if (bits < 64) {
      return out.number(i.longValue());
    }
    boolean negative = i.signum() < 0;
    if (bits <= 64) {
      return negative
          ? out.head(CborWriter.NEGATIVE, ~i.longValue())
          : out.head(CborWriter.UNSIGNED, i.longValue());
    }
    if (bits / 8 >= maxStringBytes) {
      return tooLarge(bits);
    }
    byte[] magnitude = (negative ? i.not() : i).toByteArray();
    int zeros = magnitude[0] == 0 ? 1 : 0;
    int position = out.position();
    if (out.head(CborWriter.TAG, negative ? 3 : 2)
        && out.bytes(magnitude, zeros, magnitude.length - zeros)) {
      return true;
    }
    out.position(position);
    return false;
  }

  /** Tag 4: ten to the power of the first, times the second. */
  private boolean bigDecimal(BigDecimal d) {
    BigInteger unscaled = d.unscaledValue();
    if (unscaled.bitLength() / 8 >= maxStringBytes) {
      return tooLarge(unscaled.bitLength());
    }
    if (d.scale() == 0 && unscaled.bitLength() < 64 && out.isSecret(unscaled.longValue())) {
      return out.redacted();
    }
    int position = out.position();
    if (out.head(CborWriter.TAG, 4)
        && out.head(CborWriter.ARRAY, 2)
        && out.integer(-(long) d.scale())
        && (unscaled.bitLength() < 64 ? out.integer(unscaled.longValue()) : bigInteger(unscaled))) {
      return true;
    }
    out.position(position);
    return false;
  }

  /** A number can't be cut and stay a number. */
  private boolean tooLarge(int bits) {
    if (!out.text("<number of " + bits + " bits>")) {
      return false;
    }
    placeholders++;
    return true;
  }

  private boolean text(String s) {
    return counted(out.textCut(rule == null ? s : ruled(s), maxStringBytes));
  }

  private boolean sequence(CharSequence s) {
    if (rule != null) {
      // As much as can be recorded, and one character more, so that the cut shows.
      int length = Math.min(s.length(), maxStringBytes + 1);
      StringBuilder copy = new StringBuilder(length);
      for (int i = 0; i < length; i++) {
        copy.append(s.charAt(i));
      }
      return text(copy.toString());
    }
    return counted(out.sequence(s, maxStringBytes, true));
  }

  /** What the application's rule makes of a text; a rule that throws has found a secret. */
  private String ruled(String s) {
    Secrets.Rule r = rule;
    if (r == null) {
      return s;
    }
    String result;
    try {
      result = r.apply(ruledKey, s);
    } catch (Throwable e) {
      failed(e);
      result = null;
    }
    if (s.equals(result)) {
      return s;
    }
    out.redactions(out.redactions() + 1);
    return result == null ? Secrets.MARK : result;
  }

  private boolean orNull(@Nullable String s) {
    return s == null ? out.nul() : text(s);
  }

  private boolean counted(int result) {
    if ((result & CborWriter.CUT) != 0 && result > 0) {
      cuts++;
    }
    return result >= 0;
  }

  private boolean byteString(byte[] b) {
    if (b.length <= maxStringBytes && out.bytes(b, 0, b.length)) {
      return true;
    }
    // A byte string can't show that it is cut: an array of it and the mark does.
    int position = out.position();
    int room = CborWriter.contentRoom(out.limit() - position - 1 - ARRAY_RESERVE);
    int length = Math.min(room, Math.min(b.length, maxStringBytes));
    if (length < 0) {
      return false;
    }
    out.beginArray();
    out.bytes(b, 0, length);
    out.text(ELLIPSIS);
    cuts++;
    return out.end();
  }

  private boolean buffer(ByteBuffer b) {
    // A copy: rare, and leaves the buffer's position alone, which belongs to the application.
    byte[] copy = new byte[Math.min(b.remaining(), maxStringBytes + 1)];
    b.get(b.position(), copy, 0, copy.length);
    return byteString(copy);
  }

  private boolean list(List<?> l) {
    int entered = enterArray(l);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    boolean whole = true;
    try {
      for (int i = 0; i < l.size(); i++) {
        if (!more(i, maxElements) || !any(elementOf(l, i))) {
          whole = false;
          break;
        }
      }
    } catch (IndexOutOfBoundsException | ConcurrentModificationException e) {
      // It became shorter meanwhile.
      whole = false;
    }
    return exitArray(whole);
  }

  private @Nullable Object elementOf(List<?> l, int i) {
    try {
      return l.get(i);
    } catch (IndexOutOfBoundsException | ConcurrentModificationException e) {
      throw e;
    } catch (Throwable e) {
      return failed(e);
    }
  }

  private boolean iterable(Iterable<?> elements) {
    int entered = enterArray(elements);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    boolean whole = true;
    Iterator<?> all = Objects.requireNonNull(elements.iterator(), "iterator");
    for (int i = 0; ; i++) {
      Object element;
      try {
        if (!all.hasNext()) {
          break;
        }
        element = more(i, maxElements) ? all.next() : null;
      } catch (ConcurrentModificationException | NoSuchElementException e) {
        // It changed meanwhile.
        whole = false;
        break;
      } catch (Throwable e) {
        // Behind what it gave until then.
        any(failed(e));
        whole = false;
        break;
      }
      if (!more(i, maxElements) || !any(element)) {
        whole = false;
        break;
      }
    }
    return exitArray(whole);
  }

  private boolean array(Object a) {
    if (a instanceof Object[] o) {
      return objects(o, maxElements);
    }
    if (a instanceof byte[] b) {
      return byteString(b);
    }
    if (a instanceof char[] c) {
      return sequence(CharBuffer.wrap(c));
    }
    return numbers(a, Array.getLength(a));
  }

  private boolean objects(@Nullable Object[] a, int most) {
    int entered = enterArray(a);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    boolean whole = true;
    for (int i = 0; i < a.length; i++) {
      if (!more(i, most) || !any(a[i])) {
        whole = false;
        break;
      }
    }
    return exitArray(whole);
  }

  private boolean numbers(Object a, int length) {
    int entered = enterArray(a);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    boolean whole = true;
    for (int i = 0; i < length; i++) {
      if (!more(i, maxElements) || !numberOf(a, i)) {
        whole = false;
        break;
      }
    }
    return exitArray(whole);
  }

  private boolean numberOf(Object a, int i) {
    nodes++;
    if (a instanceof long[] n) {
      return out.number(n[i]);
    }
    if (a instanceof int[] n) {
      return out.integer(n[i]);
    }
    if (a instanceof double[] n) {
      return out.number(n[i]);
    }
    if (a instanceof float[] n) {
      return out.single(n[i]);
    }
    if (a instanceof short[] n) {
      return out.integer(n[i]);
    }
    if (a instanceof boolean[] n) {
      return out.bool(n[i]);
    }
    if (a instanceof AtomicIntegerArray n) {
      return out.integer(n.get(i));
    }
    return out.number(((AtomicLongArray) a).get(i));
  }

  private boolean atomics(AtomicReferenceArray<?> a) {
    int entered = enterArray(a);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    boolean whole = true;
    for (int i = 0; i < a.length(); i++) {
      if (!more(i, maxElements) || !any(a.get(i))) {
        whole = false;
        break;
      }
    }
    return exitArray(whole);
  }

  private boolean mapOf(Map<?, ?> m) {
    int entered = enterMap(m);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    int outer = walked;
    walked = 0;
    boolean whole = true;
    try {
      Class<?> type = m.getClass();
      if (type == HashMap.class
          || type == LinkedHashMap.class
          || type == TreeMap.class
          || type == ConcurrentHashMap.class) {
        m.forEach(entries);
      } else if (type == MAP_OF_MORE) {
        whole = ofMore(m);
      } else if (type == MAP_OF_ONE) {
        whole = ofOne(m);
      } else {
        whole = foreign(m);
      }
    } catch (Stop | ConcurrentModificationException | NoSuchElementException e) {
      whole = false;
    }
    walked = outer;
    return exitMap(whole);
  }

  private boolean ofMore(Map<?, ?> m) {
    Iterator<? extends Map.Entry<?, ?>> all = m.entrySet().iterator();
    for (int left = m.size(); left > 0; left--) {
      Map.Entry<?, ?> e = all.next();
      if (!entry(e.getKey(), e.getValue())) {
        return false;
      }
    }
    return true;
  }

  /** No iterator: on 17 the compiler keeps all three objects it takes. */
  private boolean ofOne(Map<?, ?> m) {
    Object v = m.get(anyKey);
    Object key = anyKey.heard;
    anyKey.heard = null;
    return (key == null || v == null) ? ofMore(m) : entry(key, v);
  }

  private boolean foreign(Map<?, ?> m) {
    for (Map.Entry<?, ?> e : m.entrySet()) {
      if (!foreignEntry(e)) {
        return false;
      }
    }
    return true;
  }

  /** Writes a key and its value, or moves nothing. */
  private boolean entry(@Nullable Object key, @Nullable Object v) {
    if (!more(walked, maxElements)) {
      walked = Integer.MAX_VALUE;
      return false;
    }
    walked++;
    int position = out.position();
    int cutsBefore = cuts;
    int placeholdersBefore = placeholders;
    int redactionsBefore = out.redactions();
    int written = key(key);
    if (counted(written)
        && ((written & CborWriter.SECRET) != 0
            ? secret(v)
            : rule == null ? any(v) : anyOf(key, v))) {
      return true;
    }
    out.position(position);
    cuts = cutsBefore;
    placeholders = placeholdersBefore;
    out.redactions(redactionsBefore);
    walked = Integer.MAX_VALUE;
    return false;
  }

  /** The value under a secret key; whether there is one, and yes or no, is none. */
  private boolean secret(@Nullable Object v) {
    if (v == null || v instanceof Boolean) {
      return any(v);
    }
    nodes++;
    return out.redacted();
  }

  /** As {@link #any}, where a rule wants to know the key. */
  private boolean anyOf(@Nullable Object key, @Nullable Object v) {
    String outer = ruledKey;
    ruledKey = key instanceof String s ? s : null;
    boolean written = any(v);
    ruledKey = outer;
    return written;
  }

  /** As {@link #entry}, of a map whose entries may run code of the application. */
  private boolean foreignEntry(Map.Entry<?, ?> e) {
    Object key;
    try {
      key = e.getKey();
    } catch (Throwable failure) {
      key = failed(failure);
    }
    Object v;
    try {
      v = e.getValue();
    } catch (Throwable failure) {
      v = failed(failure);
    }
    return entry(key, v);
  }

  private boolean entryAlone(Map.Entry<?, ?> e) {
    int entered = enterMap(e);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    int outer = walked;
    walked = 0;
    boolean whole = foreignEntry(e);
    walked = outer;
    return exitMap(whole);
  }

  /** {@return as {@link CborWriter#keyCut}} */
  private int key(@Nullable Object key) {
    if (key instanceof String s) {
      return out.keyCut(s);
    }
    Object failed = key;
    try {
      if (key instanceof CharSequence s) {
        return out.keyCut(s);
      }
      if (!(key instanceof Failure)) {
        String s =
            key instanceof Enum<?> e
                ? e.name()
                : key instanceof Class<?> c ? c.getName() : String.valueOf(key);
        // A toString may return null.
        return out.keyCut((CharSequence) (s == null ? "null" : s));
      }
    } catch (Throwable e) {
      failed = failed(e);
    }
    placeholders++;
    return out.keyCut((CharSequence) String.valueOf(failed));
  }

  private boolean record(Record r) {
    Components components = COMPONENTS.get(r.getClass());
    if (!components.accessible) {
      return orNull(r.toString());
    }
    int entered = enterMap(r);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    int outer = walked;
    walked = 0;
    boolean whole = true;
    for (int i = 0; i < components.names.length && whole; i++) {
      whole = entry(components.names[i], component(components, r, i));
    }
    walked = outer;
    return exitMap(whole);
  }

  private @Nullable Object component(Components components, Record r, int i) {
    try {
      return components.accessors[i].invoke(r);
    } catch (InvocationTargetException e) {
      return failed(e.getCause() == null ? e : e.getCause());
    } catch (Throwable e) {
      return failed(e);
    }
  }

  private boolean throwable(Throwable t) {
    int entered = enterMap(t);
    if (entered != ENTERED) {
      return entered == REPLACED;
    }
    boolean whole = true;
    for (int part = 0; part < THROWABLE_PARTS.size() && whole; part++) {
      Object v = partOf(t, part);
      if (v == null || (v instanceof Object[] a && a.length == 0)) {
        continue;
      }
      int position = out.position();
      whole =
          nodes < maxNodes
              && out.key(THROWABLE_PARTS.get(part))
              && (v instanceof StackTraceElement[] frames
                  ? objects(frames, maxStackFrames)
                  : any(v));
      if (!whole) {
        out.position(position);
      }
    }
    return exitMap(whole);
  }

  private @Nullable Object partOf(Throwable t, int part) {
    try {
      return switch (part) {
        case 0 -> t.getClass().getName();
        case 1 -> t.getMessage();
        case 2 -> t.getStackTrace();
        case 3 -> t.getCause();
        default -> t.getSuppressed();
      };
    } catch (Throwable e) {
      return failed(e);
    }
  }

  /** Writes what {@code holder} holds; a level, because it may hold itself. */
  private boolean inner(Object holder, @Nullable Object v) {
    int refused = refused(holder);
    if (refused != ENTERED) {
      return refused == REPLACED;
    }
    path[depth++] = holder;
    boolean written = any(v);
    path[--depth] = null;
    return written;
  }

  // Containers. Each: enter; items, while there are more; exit.

  private boolean more(int count, int most) {
    return count < most && nodes < maxNodes;
  }

  private int enterArray(Object container) {
    int refused = refused(container);
    if (refused != ENTERED) {
      return refused;
    }
    int limit = out.limit();
    if (limit - out.position() < 1 + ARRAY_RESERVE || !out.beginArray()) {
      return NOTHING;
    }
    out.limit(limit - ARRAY_RESERVE);
    path[depth++] = container;
    return ENTERED;
  }

  private int enterMap(Object container) {
    int refused = refused(container);
    if (refused != ENTERED) {
      return refused;
    }
    int limit = out.limit();
    if (limit - out.position() < 1 + MAP_RESERVE || !out.beginMap()) {
      return NOTHING;
    }
    out.limit(limit - MAP_RESERVE);
    path[depth++] = container;
    return ENTERED;
  }

  /** Writes what stands for a container that contains itself or lies too deep. */
  private int refused(Object container) {
    for (int i = 0; i < depth; i++) {
      if (path[i] == container) {
        if (!out.text("<cycle>")) {
          return NOTHING;
        }
        placeholders++;
        return REPLACED;
      }
    }
    if (depth < path.length) {
      return ENTERED;
    }
    if (!out.text(ELLIPSIS)) {
      return NOTHING;
    }
    cuts++;
    return REPLACED;
  }

  private boolean exitArray(boolean whole) {
    path[--depth] = null;
    out.limit(out.limit() + ARRAY_RESERVE);
    if (!whole) {
      cuts++;
      out.text(ELLIPSIS);
    }
    return out.end();
  }

  private boolean exitMap(boolean whole) {
    path[--depth] = null;
    out.limit(out.limit() + MAP_RESERVE);
    if (!whole) {
      cuts++;
      out.text(ELLIPSIS);
      out.bool(true);
    }
    return out.end();
  }

  private void restore(int position, int limit, int level) {
    out.reset(position, limit);
    while (depth > level) {
      path[--depth] = null;
    }
  }

  /** What stands for a value that threw {@code e}; keeps in mind what is not the value's fault. */
  private Failure failed(Throwable e) {
    String name = e.getClass().getName();
    // ThreadDeath by name: it is on its way out of the JDK.
    if (e instanceof Error error
        && ((e instanceof VirtualMachineError && !(e instanceof StackOverflowError))
            || name.equals("java.lang.ThreadDeath"))
        && fatal == null) {
      fatal = error;
    }
    if (e instanceof InterruptedException) {
      // Thrown in spite of the signature: whoever runs the thread must still hear of it.
      Thread.currentThread().interrupt();
    }
    return new Failure("<threw " + name.substring(name.lastIndexOf('.') + 1) + ">");
  }

  /** Stands for what was thrown in place of a value, or for a key. */
  private static final class Failure {
    private final String text;

    Failure(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** The one consumer of an encoder. */
  private final class Entries implements BiConsumer<Object, Object> {
    private final Stop stop = new Stop();

    @Override
    public void accept(Object key, Object v) {
      if (!entry(key, v)) {
        throw stop;
      }
    }
  }

  /** Equals any key, and tells which one it was compared with. */
  private static final class AnyKey {
    @Nullable Object heard;

    @Override
    public boolean equals(@Nullable Object key) {
      heard = key;
      return true;
    }

    @Override
    public int hashCode() {
      return 0;
    }
  }

  /** Ends a {@code forEach}. */
  private static final class Stop extends RuntimeException {
    private static final long serialVersionUID = 1;

    Stop() {
      super(null, null, false, false);
    }
  }

  /** How to read the components of a record class. */
  private static final class Components {
    final String[] names;
    final boolean accessible;
    final Method[] accessors;

    Components(Class<?> type) {
      RecordComponent[] components = type.getRecordComponents();
      names = new String[components.length];
      accessors = new Method[components.length];
      boolean all = true;
      for (int i = 0; i < components.length; i++) {
        names[i] = components[i].getName();
        accessors[i] = components[i].getAccessor();
        all &= accessors[i].trySetAccessible();
      }
      accessible = all;
    }
  }

  private static final class ComponentsOfClass extends ClassValue<Components> {
    @Override
    protected Components computeValue(Class<?> type) {
      return new Components(type);
    }
  }
}
