package cairn.bench;

import java.util.Arrays;
import java.util.List;

/** What a tracer is asked for, one benchmark method each. */
enum SpanCase {
  ROOT("root", "root"),
  CHILD("child", "child of active span"),
  FOUR("fourAttributes", "root + 4 attributes"),
  FOUR_LATE("fourLate", "root + 4 attributes, set on the span"),
  TEN("tenAttributes", "root + 10 attributes"),
  LIST("list", "root + list of 5"),
  CHILD_CURRENT("childCurrent", "child + 4 attributes + makeCurrent"),
  KEPT_BUILDER("keptBuilder", "root from a kept builder"),
  EXCEPTION("exception", "root + recordException"),
  TRACE("trace", "child, 10 to a root"),
  VIRTUAL("virtualThread", "root + 4 attributes, virtual thread"),
  SAMPLED_OUT("sampledOut", "root, sampled out");

  /** The benchmark method. */
  final String method;

  final String label;

  SpanCase(String method, String label) {
    this.method = method;
    this.label = label;
  }

  static SpanCase of(String method) {
    return Arrays.stream(values())
        .filter(one -> one.method.equals(method))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown case: name=" + method));
  }

  /** {@return what a contender answers; for warming up, since the benchmark has a method each} */
  Object ask(SpanContender spans, Calls.Caller caller) {
    return switch (this) {
      case ROOT, SAMPLED_OUT -> spans.root(caller.next());
      case CHILD -> spans.child(caller.next());
      case FOUR, VIRTUAL -> spans.fourAttributes(caller.next());
      case FOUR_LATE -> spans.fourLate(caller.next());
      case TEN -> spans.tenAttributes(caller.next());
      case LIST -> spans.list(caller.next());
      case CHILD_CURRENT -> spans.childCurrent(caller.next());
      case KEPT_BUILDER -> spans.keptBuilder(caller.next());
      case EXCEPTION -> spans.exception(caller.next());
      case TRACE -> spans.trace(caller);
    };
  }

  static List<String> names() {
    return Arrays.stream(values()).map(one -> one.method).toList();
  }

  /** {@return whether that contender has something to be asked for here} */
  boolean suits(String contender) {
    return switch (contender) {
          // It has no lists and no builders.
          case "brave" -> this != LIST && this != KEPT_BUILDER;
          // A root is a transaction, and one that never ends takes 1,000 children; no builders.
          case "sentry" -> this != CHILD && this != CHILD_CURRENT && this != KEPT_BUILDER;
          // Without a builder there is nothing to keep, or to give attributes to before the start.
          case "dd-start" -> this != KEPT_BUILDER && this != FOUR && this != TEN && this != VIRTUAL;
          // A builder that may start one span only.
          case "dd-reused" -> this != KEPT_BUILDER;
          default -> true;
        }
        // Datadog decides when a trace is written: a span that is sampled out is as large.
        && (this != SAMPLED_OUT || !contender.startsWith("dd-"));
  }
}
