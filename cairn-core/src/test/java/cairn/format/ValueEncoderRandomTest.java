package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Random graphs of values: what is read back is what a slow and simple model says. */
class ValueEncoderRandomTest {
  private static final int GRAPHS = 4_000;
  private static final int CAPACITY = 400_000;

  private final CborWriter out = new CborWriter(new byte[CAPACITY], new KeyCache());
  private final ValueEncoder ample =
      new ValueEncoder(out, new EncodeLimits(CAPACITY, 1_000_000, 50, CAPACITY, 1_000_000, 1_000));

  /** A value and what it is read back as. */
  private record Case(Object value, Object expected) {}

  @Test
  void randomGraphsReadBackAsTheModelSaysAndWithinAnyLimit() {
    long seed = Long.getLong("cairn.seed", System.nanoTime());
    System.out.println("ValueEncoderRandomTest: -Dcairn.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < GRAPHS; i++) {
      Case graph = any(random, 1 + random.nextInt(5));
      out.reset(0, CAPACITY);
      ample.resetCounts();
      assertThat(ample.value(graph.value())).isTrue();
      int size = out.position();
      assertThat(CborJudge.read(out)).as("seed=%s, graph=%s", seed, i).isEqualTo(graph.expected());
      assertThat(ample.cuts()).isZero();

      int placeholders = ample.placeholders();
      ValueEncoder tight =
          new ValueEncoder(
              out,
              new EncodeLimits(
                  1 + random.nextInt(size + 20),
                  1 + random.nextInt(60),
                  1 + random.nextInt(6),
                  8 + random.nextInt(60),
                  random.nextInt(10),
                  1));
      int from = random.nextInt(100);
      int room = random.nextInt(size + 30);
      out.reset(from, from + room);
      if (tight.value(graph.value())) {
        Object read = CborJudge.read(out.bytes(), from, out.position());
        assertThat(out.position()).isLessThanOrEqualTo(from + room);
        if (tight.cuts() == 0 && tight.placeholders() == placeholders) {
          assertThat(read).as("seed=%s, graph=%s", seed, i).isEqualTo(graph.expected());
        }
      } else {
        assertThat(out.position()).isEqualTo(from);
      }
      assertThat(out.limit()).isEqualTo(from + room);
    }
  }

  private static Case any(Random random, int depth) {
    return switch (random.nextInt(depth == 0 ? 11 : 20)) {
      case 0 -> new Case(null, null);
      case 1 -> integer(random.nextInt() % 300);
      case 2 -> integer(random.nextLong() >> random.nextInt(64));
      case 3 -> same(random.nextBoolean());
      case 4 -> same(Double.longBitsToDouble(random.nextLong()));
      case 5 -> same(Float.intBitsToFloat(random.nextInt()));
      case 6 -> {
        BigInteger one = new BigInteger(random.nextInt(200), random);
        one = one.subtract(BigInteger.ONE.shiftLeft(random.nextInt(150)));
        // The judge takes the highest bit of a big number for its sign; see bigNumbersAreExact.
        yield same(one.bitLength() > 64 && one.bitLength() % 8 == 0 ? one.shiftRight(1) : one);
      }
      case 7 ->
          same(new BigDecimal(new BigInteger(random.nextInt(64), random), random.nextInt(40) - 20));
      case 8 -> {
        byte[] bytes = new byte[random.nextInt(70)];
        random.nextBytes(bytes);
        yield new Case(bytes, ByteBuffer.wrap(bytes));
      }
      case 9 -> {
        String text = text(random);
        yield new Case(
            new Object() {
              @Override
              public String toString() {
                if (text.length() % 3 == 0) {
                  throw new IllegalArgumentException();
                }
                return text;
              }
            },
            text.length() % 3 == 0 ? "<threw IllegalArgumentException>" : expected(text));
      }
      case 10 -> {
        String text = text(random);
        yield new Case(random.nextBoolean() ? text : new StringBuilder(text), expected(text));
      }
      case 11, 12, 13 -> list(random, depth);
      case 14 -> {
        Case inner = any(random, depth - 1);
        yield new Case(new AtomicReference<>(inner.value()), inner.expected());
      }
      case 15 -> {
        Case inner = any(random, depth - 1);
        yield new Case(Optional.ofNullable(inner.value()), inner.expected());
      }
      default -> map(random, depth);
    };
  }

  private static Case list(Random random, int depth) {
    List<Object> values = new ArrayList<>();
    List<Object> expected = new ArrayList<>();
    for (int i = random.nextInt(8); i > 0; i--) {
      Case one = any(random, depth - 1);
      values.add(one.value());
      expected.add(one.expected());
    }
    Object value =
        switch (random.nextInt(4)) {
          case 0 -> values;
          case 1 -> values.toArray();
          case 2 -> Collections.unmodifiableCollection(values);
          default -> {
            Iterable<Object> iterable = values::iterator;
            yield iterable;
          }
        };
    return new Case(value, expected);
  }

  private static Case map(Random random, int depth) {
    Map<String, Object> values = new LinkedHashMap<>();
    Map<String, Object> expected = new LinkedHashMap<>();
    for (int i = random.nextInt(8); i > 0; i--) {
      String key = expected(text(random));
      if (key.getBytes(StandardCharsets.UTF_8).length <= 128) {
        Case one = any(random, depth - 1);
        values.put(key, one.value());
        expected.put(key, one.expected());
      }
    }
    Object value =
        switch (random.nextInt(6)) {
          case 0 -> new HashMap<>(values);
          case 1 -> new TreeMap<>(values);
          case 2 -> Collections.unmodifiableMap(values);
          case 3 -> values.containsValue(null) ? values : Map.copyOf(values);
          default -> values;
        };
    return new Case(value, expected);
  }

  private static String text(Random random) {
    int kind = random.nextInt(5);
    int length = random.nextInt(10) == 0 ? random.nextInt(3000) : random.nextInt(40);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      switch (random.nextInt(20) == 0 ? random.nextInt(5) : kind) {
        case 0, 1 -> text.append((char) (' ' + random.nextInt(95)));
        case 2 -> text.append((char) random.nextInt(256));
        case 3 -> text.append((char) random.nextInt(65_536));
        default -> text.appendCodePoint(random.nextInt(0x110000));
      }
    }
    return text.toString();
  }

  /** As the JDK's own encoder has it. */
  private static String expected(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static Case integer(Number value) {
    return new Case(value, BigInteger.valueOf(value.longValue()));
  }

  private static Case same(Object value) {
    return new Case(value, value);
  }
}
