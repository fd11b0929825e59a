package cairn.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The values that {@link EncodePathBenchmark} encodes: a breadcrumb, one with more data, contexts,
 * and many contexts. Several variants of each, so that nothing is the same object twice in a row;
 * their keys are the same objects, as literals are. The same in every process.
 */
final class EncodePayload {
  static final int SMALL = 230;
  static final int MID = 1_200;
  static final int LARGE = 20_000;
  static final int HUGE = 238_000;

  /** All sizes that {@link #values} knows: bytes as JSON, about. */
  static final List<Integer> SIZES = List.of(SMALL, MID, LARGE, HUGE);

  /** What Sentry measured: as many keys, with as many characters each. */
  private static final int MANY_KEYS = 2_000;

  private static final int MANY_CHARS = 100;

  private static final String[] MANY = new String[MANY_KEYS];

  static {
    for (int i = 0; i < MANY_KEYS; i++) {
      MANY[i] = "key_" + i;
    }
  }

  private static final String[] SECTIONS = {
    "app", "device", "os", "runtime", "culture", "response", "cart", "feature", "session", "cloud",
    "database", "cache", "queue", "tenant", "deployment", "route", "trace", "profile", "gpu", "view"
  };

  private static final String[] KEYS = {
    "name",
    "version",
    "build",
    "raw_description",
    "identifier",
    "start_time",
    "memory_size",
    "free_memory",
    "locale",
    "timezone",
    "status_code",
    "body_size",
    "headers",
    "endpoint",
    "duration_ms",
    "retries",
    "is_cached",
    "enabled",
    "ratio",
    "owner"
  };

  private static final String[] WORDS = {
    "order",
    "payment",
    "the",
    "connection",
    "was",
    "reset",
    "by",
    "primary",
    "replica",
    "answered",
    "within",
    "its",
    "limit",
    "pool",
    "took",
    "rotation",
    "will",
    "try",
    "again",
    "in",
    "thirty",
    "seconds",
    "as",
    "configured",
    "customer",
    "invoice",
    "shipment",
    "checkout",
    "service"
  };

  private static final String[] FOREIGN_WORDS = {
    "Größe", "Straße", "café", "señor", "überprüft", "注文", "確認", "заказ", "доставка", "🚚"
  };

  private EncodePayload() {}

  /**
   * {@return the variants of the value of that size; their number is a power of two}
   *
   * @param size one of {@link #SIZES}
   */
  static List<Map<String, Object>> values(int size) {
    int variants =
        switch (size) {
          case SMALL, MID -> Payload.VARIANTS;
          case LARGE -> 8;
          case HUGE -> 2;
          default ->
              throw new IllegalArgumentException("unknown size: size=" + size + ", known=" + SIZES);
        };
    List<Map<String, Object>> values = new ArrayList<>();
    for (int i = 0; i < variants; i++) {
      values.add(value(size, i));
    }
    return values;
  }

  private static Map<String, Object> value(int size, int variant) {
    Random random = new Random(size + variant);
    return switch (size) {
      case SMALL -> breadcrumb(Payload.SMALL[variant], variant);
      case MID -> breadcrumb(Payload.MID[variant], variant);
      case LARGE -> contexts(random, 16);
      default -> manyContexts(random);
    };
  }

  private static Map<String, Object> breadcrumb(Payload.Event event, int variant) {
    Map<String, Object> breadcrumb = new LinkedHashMap<>();
    breadcrumb.put("timestamp", 1_796_038_516_123L + variant);
    breadcrumb.put("level", "info");
    breadcrumb.put("category", event.category());
    breadcrumb.put("message", event.message());
    breadcrumb.put("data", event.data());
    return breadcrumb;
  }

  private static Map<String, Object> manyContexts(Random random) {
    Map<String, Object> many = new LinkedHashMap<>();
    for (String key : MANY) {
      many.put(key, text(random, MANY_CHARS, false));
    }
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("many", many);
    value.put("contexts", contexts(random, 8));
    return value;
  }

  private static Map<String, Object> contexts(Random random, int sections) {
    Map<String, Object> contexts = new LinkedHashMap<>();
    Map<String, Object> user = new LinkedHashMap<>();
    user.put("id", Integer.toString(100_000 + random.nextInt(900_000)));
    user.put("email", text(random, 8, false).replace(' ', '.') + "@shop.example");
    user.put("name", text(random, 20, true));
    user.put("ip_address", "203.0.113." + random.nextInt(256));
    contexts.put("user", user);
    for (int i = 0; i < sections; i++) {
      contexts.put(SECTIONS[i], section(random, 2));
    }
    return contexts;
  }

  /** Scalars, a list, and sections inside it. */
  private static Map<String, Object> section(Random random, int levels) {
    Map<String, Object> section = random.nextInt(4) == 0 ? new HashMap<>() : new LinkedHashMap<>();
    for (int i = 0; i < 10; i++) {
      section.put(KEYS[(i * 3 + levels) % KEYS.length], scalar(random));
    }
    List<Object> list = new ArrayList<>();
    boolean mixed = random.nextInt(4) == 0;
    boolean numbers = random.nextBoolean();
    for (int i = 3 + random.nextInt(4); i > 0; i--) {
      list.add(
          mixed
              ? scalar(random)
              : numbers ? (Object) random.nextInt(2_000) : text(random, 8, false));
    }
    section.put("list", list);
    if (levels > 1) {
      section.put("parent", section(random, levels - 1));
      section.put("peers", List.of(Map.of("id", random.nextInt()), Map.of("id", random.nextInt())));
    }
    return section;
  }

  private static Object scalar(Random random) {
    return switch (random.nextInt(10)) {
      case 0, 1 -> random.nextInt(100_000);
      case 2 -> random.nextLong();
      case 3 -> random.nextBoolean();
      case 4 -> Math.round(random.nextDouble() * 1e6) / 1e3;
      default -> text(random, 8 + random.nextInt(113), true);
    };
  }

  /**
   * {@return words of exactly that many chars}
   *
   * @param foreign whether one in seven of 40 chars and more is not ASCII
   */
  private static String text(Random random, int length, boolean foreign) {
    boolean mixed = foreign && length >= 40 && random.nextInt(7) == 0;
    boolean quoted = foreign && random.nextInt(16) == 0;
    StringBuilder text = new StringBuilder(length + 16);
    while (text.length() < length) {
      String[] words = mixed && random.nextBoolean() ? FOREIGN_WORDS : WORDS;
      String word = words[random.nextInt(words.length)];
      text.append(quoted ? "\"" + word + "\"" : word).append(' ');
    }
    text.setLength(length);
    char last = text.charAt(length - 1);
    // The cut may have halved a pair.
    if (Character.isHighSurrogate(last) || last == ' ') {
      text.setCharAt(length - 1, 'x');
    }
    return text.toString();
  }
}
