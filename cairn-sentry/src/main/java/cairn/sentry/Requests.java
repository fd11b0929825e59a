package cairn.sentry;

import cairn.report.UnfinishedSpan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which open request an event is about, if it is clear; the essay of ReportEvent has the rule. */
final class Requests {
  /** From the root to the innermost open span; empty if no request is meant. */
  private final List<UnfinishedSpan> meant;

  /**
   * @param spans all open ones, oldest first
   * @param failedThread whose exception ended the run; null if there was none
   */
  Requests(List<UnfinishedSpan> spans, @Nullable String failedThread) {
    Map<String, UnfinishedSpan> byId = new HashMap<>();
    spans.forEach(span -> byId.putIfAbsent(span.spanId(), span));
    Set<String> parents = new HashSet<>();
    for (UnfinishedSpan span : spans) {
      String parent = span.parentSpanId();
      if (parent != null && !parent.equals(span.spanId())) {
        parents.add(parent);
      }
    }
    UnfinishedSpan innermost = null;
    int roots = 0;
    for (UnfinishedSpan span : spans) {
      if (failedThread != null) {
        innermost = failedThread.equals(span.thread()) ? span : innermost;
      } else {
        String parent = span.parentSpanId();
        roots += parent == null || !byId.containsKey(parent) ? 1 : 0;
        innermost = parents.contains(span.spanId()) ? innermost : span;
      }
    }
    boolean isClear = failedThread != null || roots == 1;
    meant = isClear && innermost != null ? path(innermost, byId) : List.of();
  }

  private static List<UnfinishedSpan> path(
      UnfinishedSpan innermost, Map<String, UnfinishedSpan> byId) {
    List<UnfinishedSpan> path = new ArrayList<>();
    Set<String> seen = new HashSet<>(); // parents may go in a circle
    UnfinishedSpan span = innermost;
    while (span != null && seen.add(span.spanId())) {
      path.add(0, span);
      String parent = span.parentSpanId();
      span = parent == null ? null : byId.get(parent);
    }
    return path;
  }

  /** {@return the innermost open span of the request that is meant; null if none is} */
  @Nullable UnfinishedSpan innermost() {
    return meant.isEmpty() ? null : meant.get(meant.size() - 1);
  }

  /** {@return what the request is; null if none is meant} */
  @Nullable String transaction() {
    String name = null;
    for (UnfinishedSpan span : meant) {
      Object own = span.attributes().get(ReportEvent.PREFIX + "transaction");
      name = own instanceof String text ? text : name;
    }
    return name != null || meant.isEmpty() ? name : meant.get(0).name();
  }

  /** {@return the fields of that kind of all spans of the request, by name; an inner span's win} */
  Map<String, @Nullable Object> allOf(String kind) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    meant.forEach(span -> fields.putAll(fields(span, kind)));
    return fields;
  }

  /** {@return the fields of the innermost span that has any of that kind: never those of two} */
  Map<String, @Nullable Object> lastOf(String kind) {
    Map<String, @Nullable Object> last = Map.of();
    for (UnfinishedSpan span : meant) {
      Map<String, @Nullable Object> fields = fields(span, kind);
      last = fields.isEmpty() ? last : fields;
    }
    return last;
  }

  static Map<String, @Nullable Object> fields(UnfinishedSpan span, String kind) {
    String prefix = ReportEvent.PREFIX + kind + ".";
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    span.attributes()
        .forEach(
            (key, value) -> {
              if (key.startsWith(prefix)) {
                fields.put(key.substring(prefix.length()), PlainValues.value(value));
              }
            });
    return fields;
  }
}
