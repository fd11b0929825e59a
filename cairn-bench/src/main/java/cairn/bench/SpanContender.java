package cairn.bench;

import java.nio.file.Path;
import java.util.List;

/**
 * A tracer, asked for the same spans as every other one, in its own words. Each method starts a
 * span, does what its name says, ends the span and returns it. One thread, but for {@link #enter},
 * which each calling thread has for itself.
 *
 * <p>Values come from {@link SpanPayload} as the objects that an application has in hand, so that
 * nobody pays for boxing.
 */
abstract class SpanContender {
  /** Children of one root in {@link #trace}. */
  static final int CHILDREN = 10;

  /** Names that {@link #open} knows, Cairn's first. */
  static final List<String> NAMES =
      List.of(
          "cairn",
          "cairn-no-reuse",
          "cairn-processor",
          "otel-sdk",
          "otel-sdk-cairn",
          "dd-reused",
          "dd-fresh",
          "dd-start",
          "dd-before",
          "brave",
          "sentry");

  /**
   * Opens a contender.
   *
   * @param sampled whether its spans are to be kept
   * @param files an empty directory
   */
  static SpanContender open(String name, boolean sampled, Path files) {
    return switch (name) {
      case "cairn" -> CairnSpanContender.api(sampled, files);
      case "cairn-processor" -> CairnSpanContender.apiAndProcessor(sampled, files);
      case "otel-sdk" -> OtelContender.sdk(sampled);
      case "otel-sdk-cairn" -> CairnSpanContender.sdk(sampled, files);
      case "dd-reused" -> new DatadogContender(DatadogContender.Start.REUSED_BUILDER);
      case "dd-fresh" -> new DatadogContender(DatadogContender.Start.FRESH_BUILDER);
      case "dd-start" -> new DatadogContender(DatadogContender.Start.NO_BUILDER);
      case "dd-before" -> new DatadogBeforeContender();
      case "brave" -> new BraveContender(sampled);
      case "sentry" -> new SentryContender(sampled);
      default -> throw new IllegalArgumentException("unknown contender: name=" + name);
    };
  }

  static String label(String name) {
    return switch (name) {
      case "cairn" -> "**Cairn**";
      case "cairn-no-reuse" -> "**Cairn**, builders not reused";
      case "cairn-processor" -> "**Cairn**, no-op processor";
      case "otel-sdk" -> "OpenTelemetry SDK, no-op processor";
      case "otel-sdk-cairn" -> "OpenTelemetry SDK, **Cairn** processor";
      case "dd-reused" -> "Datadog core, builder reused";
      case "dd-fresh" -> "Datadog core, builder each time";
      case "dd-start" -> "Datadog core, without a builder";
      case "dd-before" -> "Datadog core before reuse";
      case "brave" -> "Brave";
      case "sentry" -> "sentry-java";
      default -> throw new IllegalArgumentException("unknown contender: name=" + name);
    };
  }

  /** {@return what {@link #open} is given for a name: two names may differ by a JVM argument} */
  static String opened(String name) {
    return name.equals("cairn-no-reuse") ? "cairn" : name;
  }

  static List<String> jvmArgs(String name) {
    if (name.equals("cairn-no-reuse")) {
      return List.of("-Dcairn.otel.builderReuse=false");
    }
    return name.startsWith("dd-") ? DatadogCore.quiet() : List.of();
  }

  /** A root span with a name. */
  abstract Object root(int i);

  /** A child of the span that {@link #enter} made current, found by the tracer itself. */
  abstract Object child(int i);

  /** A root span with four attributes, given to the builder where there is one. */
  abstract Object fourAttributes(int i);

  /** The same four, given to the span once it runs. */
  abstract Object fourLate(int i);

  /** A root span with ten attributes, as an HTTP server has them. */
  abstract Object tenAttributes(int i);

  /** A root span with one attribute, a list of five texts. */
  abstract Object list(int i);

  /** A child of the current span, with four attributes, itself current while it runs. */
  abstract Object childCurrent(int i);

  /** A root span from a builder that was made before and starts any number of spans. */
  abstract Object keptBuilder(int i);

  /** A root span that records an exception, in whatever form the tracer keeps it. */
  abstract Object exception(int i);

  /** A root and ten children, one after the other; the caller is asked for each child. */
  abstract Object trace(Calls.Caller caller);

  /** Makes a span current on the calling thread, for good. */
  abstract void enter();

  /**
   * Closes the tracer, and throws if it did not see the spans.
   *
   * @param spans how many there were, at least
   */
  abstract void finish(long spans) throws Exception;

  /** For a case that a tracer has no words for; {@link SpanCase} keeps it from being asked. */
  final Object cannot(String what) {
    throw new IllegalStateException("no such case: contender=" + this + ", case=" + what);
  }
}
