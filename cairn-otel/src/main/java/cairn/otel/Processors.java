package cairn.otel;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.internal.ExtendedSpanProcessor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The span processors in their order, each guarded: what one throws, or a result that it does not
 * give, does not reach the application, and the others are called all the same. What each requires
 * is asked once.
 */
final class Processors {
  private static final SpanProcessor[] NONE = {};

  private final List<SpanProcessor> all;
  private final SpanProcessor[] starting;
  private final SpanProcessor[] ending;
  private final SpanProcessor[] ended;
  private final Faults faults;

  Processors(List<SpanProcessor> all, Faults faults) {
    this.all = List.copyOf(all);
    this.faults = faults;
    this.starting = all.stream().filter(SpanProcessor::isStartRequired).toArray(n -> array(n));
    this.ended = all.stream().filter(SpanProcessor::isEndRequired).toArray(n -> array(n));
    this.ending = ending(all);
  }

  private static SpanProcessor[] array(int length) {
    return length == 0 ? NONE : new SpanProcessor[length];
  }

  /** The interface is internal to the SDK: without it, nobody wants to know of a span's ending. */
  private static SpanProcessor[] ending(List<SpanProcessor> all) {
    try {
      return all.stream().filter(Processors::isEndingRequired).toArray(n -> array(n));
    } catch (LinkageError e) {
      return NONE;
    }
  }

  private static boolean isEndingRequired(SpanProcessor processor) {
    return processor instanceof ExtendedSpanProcessor extended && extended.isOnEndingRequired();
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  boolean isEndingRequired() {
    return ending.length != 0;
  }

  void onStart(Context parent, ReadWriteSpan span) {
    for (SpanProcessor processor : starting) {
      try {
        processor.onStart(parent, span);
      } catch (Throwable e) {
        faults.note("span processor threw in onStart: " + name(processor), e);
      }
    }
  }

  void onEnding(ReadWriteSpan span) {
    for (SpanProcessor processor : ending) {
      try {
        ((ExtendedSpanProcessor) processor).onEnding(span);
      } catch (Throwable e) {
        faults.note("span processor threw in onEnding: " + name(processor), e);
      }
    }
  }

  void onEnd(ReadableSpan span) {
    for (SpanProcessor processor : ended) {
      try {
        processor.onEnd(span);
      } catch (Throwable e) {
        faults.note("span processor threw in onEnd: " + name(processor), e);
      }
    }
  }

  CompletableResultCode forceFlush() {
    return each("forceFlush", SpanProcessor::forceFlush);
  }

  CompletableResultCode shutdown() {
    return each("shutdown", SpanProcessor::shutdown);
  }

  private CompletableResultCode each(
      String call, Function<SpanProcessor, @Nullable CompletableResultCode> action) {
    List<CompletableResultCode> results = new ArrayList<>();
    for (SpanProcessor processor : all) {
      results.add(result(call, processor, action));
    }
    return CompletableResultCode.ofAll(results);
  }

  private CompletableResultCode result(
      String call,
      SpanProcessor processor,
      Function<SpanProcessor, @Nullable CompletableResultCode> action) {
    try {
      CompletableResultCode result = action.apply(processor);
      if (result != null) {
        return result;
      }
      faults.note("span processor gave no result of " + call + ": " + name(processor));
    } catch (Throwable e) {
      faults.note("span processor threw in " + call + ": " + name(processor), e);
    }
    return CompletableResultCode.ofFailure();
  }

  private static String name(SpanProcessor processor) {
    return processor.getClass().getName();
  }

  @Override
  public String toString() {
    return all.toString();
  }
}
