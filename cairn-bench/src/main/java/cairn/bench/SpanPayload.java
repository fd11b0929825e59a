package cairn.bench;

import io.opentelemetry.api.common.AttributeKey;
import java.util.List;
import java.util.stream.IntStream;

/** What spans are called and say: variants by {@link Payload#MASK}, the same for all contenders. */
final class SpanPayload {
  static final String ROOT = "GET /api/orders/{id}";
  static final String CHILD = "SELECT orders";
  static final IllegalStateException FAILURE = failure(20);

  /** Four attributes: one of each simple kind. */
  static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");

  static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.response.status_code");
  static final AttributeKey<Double> RATIO = AttributeKey.doubleKey("cache.ratio");
  static final AttributeKey<Boolean> CACHED = AttributeKey.booleanKey("cache.hit");

  /** With these and the first two, the ten of an HTTP server. */
  static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");

  static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
  static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");
  static final AttributeKey<String> HOST = AttributeKey.stringKey("server.address");
  static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
  static final AttributeKey<String> CLIENT = AttributeKey.stringKey("client.address");
  static final AttributeKey<String> AGENT = AttributeKey.stringKey("user_agent.original");
  static final AttributeKey<String> VERSION = AttributeKey.stringKey("network.protocol.version");

  static final AttributeKey<List<String>> SKUS = AttributeKey.stringArrayKey("cart.skus");

  private static final String[] ROUTES = new String[Payload.VARIANTS];
  private static final String[] PATHS = new String[Payload.VARIANTS];
  private static final String[] CLIENTS = new String[Payload.VARIANTS];
  private static final Long[] STATUSES = new Long[Payload.VARIANTS];
  private static final Long[] PORTS = new Long[Payload.VARIANTS];
  private static final Double[] RATIOS = new Double[Payload.VARIANTS];
  private static final Boolean[] HITS = new Boolean[Payload.VARIANTS];
  private static final List<List<String>> LISTS;

  static {
    for (int i = 0; i < Payload.VARIANTS; i++) {
      ROUTES[i] = "/api/orders/{id}/" + (char) ('a' + i);
      PATHS[i] = "/api/orders/" + (4711 + i);
      CLIENTS[i] = "198.51.100." + (10 + i);
      STATUSES[i] = 200L + i % 5;
      PORTS[i] = 8443L + i % 2;
      RATIOS[i] = 0.25 + i;
      HITS[i] = i % 2 == 0;
    }
    LISTS =
        IntStream.range(0, Payload.VARIANTS)
            .mapToObj(i -> List.of("A-1001", "A-1002", "B-2040", "C-3999", "D-" + (4711 + i)))
            .toList();
  }

  private SpanPayload() {}

  static String route(int i) {
    return ROUTES[i];
  }

  static String path(int i) {
    return PATHS[i];
  }

  static String client(int i) {
    return CLIENTS[i];
  }

  static Long status(int i) {
    return STATUSES[i];
  }

  static Long port(int i) {
    return PORTS[i];
  }

  static Double ratio(int i) {
    return RATIOS[i];
  }

  static Boolean hit(int i) {
    return HITS[i];
  }

  static List<String> skus(int i) {
    return LISTS.get(i);
  }

  /** As deep as a call in an application is, so that its trace has a usual length. */
  private static IllegalStateException failure(int depth) {
    return depth == 0
        ? new IllegalStateException("order service did not answer in time")
        : failure(depth - 1);
  }
}
