package cairn.bench;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The values that every contender records: a few variants of the same breadcrumb, so that nothing
 * is the same object twice in a row.
 */
final class Payload {
  static final int VARIANTS = 16;
  static final int MASK = VARIANTS - 1;

  /** About 230 bytes as JSON. */
  static final Event[] SMALL = new Event[VARIANTS];

  /** About 1.2 KB as JSON. */
  static final Event[] MID = new Event[VARIANTS];

  static final String[] TAG_KEYS = {
    "region", "tenant", "release.ring", "feature.checkout", "host.role", "locale", "plan", "cohort"
  };
  static final String[] TAG_VALUES = new String[VARIANTS];
  static final List<Map<String, Object>> CONTEXTS;

  static {
    for (int i = 0; i < VARIANTS; i++) {
      SMALL[i] = small(i);
      MID[i] = mid(i);
      TAG_VALUES[i] = "eu-central-" + i;
    }
    CONTEXTS = Arrays.stream(SMALL).map(Payload::context).toList();
  }

  /** One breadcrumb: what it is about, and three values. */
  record Event(
      String category,
      String message,
      String url,
      Integer status,
      Long millis,
      Map<String, Object> data) {}

  private Payload() {}

  private static Event small(int i) {
    String path = "/api/orders/" + (4711 + i);
    String url = "https://shop.example" + path + "?expand=items";
    Integer status = 200 + i % 5;
    Long millis = 31L + 7 * i;
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("url", url);
    data.put("status", status);
    data.put("millis", millis);
    String message = "GET " + path + " answered by the order service in time";
    return new Event("http.client", message, url, status, millis, data);
  }

  private static Event mid(int i) {
    Event small = small(i);
    Map<String, Object> data = new LinkedHashMap<>(small.data());
    data.put(
        "statement",
        "SELECT o.id, o.state, o.created_at, c.name, c.email, i.sku, i.quantity, i.price_cents"
            + " FROM orders o JOIN customers c ON c.id = o.customer_id"
            + " JOIN items i ON i.order_id = o.id"
            + " WHERE o.tenant = ? AND o.state IN (?, ?, ?) AND o.created_at > ?"
            + " ORDER BY o.created_at DESC, i.position ASC LIMIT 200 OFFSET "
            + i);
    Map<String, Object> headers = new LinkedHashMap<>();
    headers.put("accept", "application/json");
    headers.put("content-type", "application/json; charset=utf-8");
    headers.put("user-agent", "shop-frontend/4.18.2 (linux; x86_64)");
    headers.put("x-request-id", "6f1c2c1e-8a51-4a3c-9d5e-0b1f6c2d7e" + (10 + i));
    headers.put("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    data.put("headers", headers);
    data.put("skus", List.of("A-1001", "A-1002", "B-2040", "C-3999", "D-4711"));
    data.put("quantities", List.of(1, 2, 40, 3, 700 + i));
    data.put("cached", i % 2 == 0);
    data.put("ratio", 0.25 + i);
    Map<String, Object> pool = new LinkedHashMap<>();
    pool.put("active", 7 + i);
    pool.put("idle", 3);
    pool.put("waiting", 0);
    pool.put("max", 10);
    data.put("pool", pool);
    data.put(
        "note",
        "the second attempt after a connection reset by the primary; the replica answered"
            + " within its limit; the pool took the first connection out of rotation and will"
            + " try it again in thirty seconds, as configured");
    return new Event(
        small.category(), small.message(), small.url(), small.status(), small.millis(), data);
  }

  private static Map<String, Object> context(Event event) {
    Map<String, Object> context = new LinkedHashMap<>();
    context.put("items", event.status() % 7);
    context.put("totalCents", event.millis() * 100);
    context.put("currency", "EUR");
    return context;
  }

  /** {@return the mean length of the events as lines of JSON, as text for a heading} */
  static String meanBytes(Event[] events) {
    JsonLine line = new JsonLine();
    long total = 0;
    for (Event event : events) {
      total += line.encode(event, 1_796_038_516_123L);
    }
    return String.format(Locale.ROOT, "%d", total / events.length);
  }
}
