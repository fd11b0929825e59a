package cairn.sentry;

import cairn.Level;
import cairn.Recorder;
import cairn.Scope;
import io.sentry.IScope;
import io.sentry.ISpan;
import io.sentry.PropagationContext;
import io.sentry.SentryAttribute;
import io.sentry.SentryLevel;
import io.sentry.SpanContext;
import io.sentry.protocol.FeatureFlags;
import io.sentry.protocol.SentryId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The scopes of the process, those of no request, as the scope of the run: Sentry's current, its
 * isolation and its global scope as they were when Sentry was started. Where two have a field, the
 * first of them wins, as with Sentry.
 */
final class RunMirror extends Mirror {
  private static final String ATTRIBUTES_CONTEXT = ReportEvent.PREFIX + "attributes";

  private final Scope run;
  private final List<IScope> layers;
  private final AtomicReferenceArray<@Nullable Map<String, String>> tagMaps;

  private volatile Map<String, Object> options = Map.of();
  private volatile @Nullable String environment;
  private volatile boolean mayHaveTags = true;

  RunMirror(Recorder recorder, IScope current, IScope isolation, IScope global) {
    this.run = recorder.scope();
    this.layers = List.of(current, isolation, global);
    this.tagMaps = new AtomicReferenceArray<>(layers.size());
  }

  /** {@return which layer it is; -1 if none} */
  int indexOf(IScope scope) {
    for (int i = 0; i < layers.size(); i++) {
      if (layers.get(i) == scope) {
        return i;
      }
    }
    return -1;
  }

  IScope isolation() {
    return layers.get(1);
  }

  /**
   * Says which options Sentry runs with; recorded if they have changed.
   *
   * @param now by the names that ReportEvent knows
   */
  void options(Map<String, Object> now) {
    if (!now.equals(options)) {
      options = now;
      recordOptions();
    }
  }

  private void recordOptions() {
    Map<String, Object> all = new LinkedHashMap<>(options);
    String ofScope = environment;
    if (ofScope != null) {
      all.put("environment", ofScope);
    }
    run.context(ReportEvent.OPTIONS_CONTEXT, all);
  }

  /** Learns whose the map is that an announcement has brought; tells which layer's tags may be. */
  void learn(Map<String, String> tags) {
    for (int i = 0; i < layers.size(); i++) {
      if (tagMaps.get(i) == tags) {
        return;
      }
    }
    for (int i = 0; i < layers.size(); i++) {
      if (tagMaps.get(i) == null && layers.get(i).getTags().equals(tags)) {
        tagMaps.set(i, tags);
        return;
      }
    }
    mayHaveTags = true; // that of a block, or one of ours changed by another thread meanwhile
  }

  /** Forgets maps that turn out to be another scope's. */
  void verify() {
    boolean may = false;
    for (int i = 0; i < layers.size(); i++) {
      Map<String, String> own = tagMaps.get(i);
      Map<String, String> tags = layers.get(i).getTags();
      if (own != null && !own.equals(tags)) {
        tagMaps.set(i, null);
        own = null;
      }
      may |= own == null && !tags.isEmpty();
    }
    mayHaveTags = may;
  }

  @Override
  int layers() {
    return layers.size();
  }

  @Override
  IScope layer(int index) {
    return layers.get(index);
  }

  @Override
  Map<String, String> tagsOf(int index) {
    Map<String, String> own = tagMaps.get(index);
    if (own != null) {
      return own;
    }
    // Nobody but the scope has its map, and what it gives out is a copy each time.
    return mayHaveTags ? layers.get(index).getTags() : Map.of();
  }

  @Override
  @Nullable Object single(int kind) {
    return switch (kind) {
      case REPLAY -> replay();
      case TRACE -> trace();
      case ATTRIBUTES -> attributes();
      case FLAGS -> flags();
      default -> firstOf(kind);
    };
  }

  private @Nullable String replay() {
    SentryId id = isolation().getReplayId();
    return id == null || id.equals(SentryId.EMPTY_ID) ? null : id.toString();
  }

  /** {@return both ids as one text, which is the same object only by chance, but equal} */
  private @Nullable String trace() {
    for (IScope layer : List.of(layers.get(0), isolation())) {
      ISpan span = layer.getSpan();
      if (span != null && !span.isNoOp() && !span.isFinished()) {
        SpanContext context = span.getSpanContext();
        return context.getTraceId() + "-" + context.getSpanId();
      }
    }
    PropagationContext trace = isolation().getPropagationContext();
    return trace == null ? null : trace.getTraceId() + "-" + trace.getSpanId();
  }

  private @Nullable Object attributes() {
    Map<String, @Nullable Object> all = null;
    for (int i = layers.size() - 1; i >= 0; i--) {
      Map<String, SentryAttribute> own = layers.get(i).getAttributes();
      if (!own.isEmpty()) {
        all = all == null ? new LinkedHashMap<>() : all;
        for (Map.Entry<String, SentryAttribute> entry : own.entrySet()) {
          all.put(entry.getKey(), SentryForms.copy(entry.getValue().getValue()));
        }
      }
    }
    return all == null ? null : new Copy(all);
  }

  private @Nullable Object flags() {
    List<Object> all = null;
    for (IScope layer : layers) {
      FeatureFlags flags = layer.getFeatureFlags();
      if (flags != null && flags.getValues() != null && !flags.getValues().isEmpty()) {
        all = all == null ? new ArrayList<>() : all;
        all.addAll(flags.getValues().stream().map(SentryForms::map).toList());
      }
    }
    return all == null ? null : new Copy(Map.of("values", all));
  }

  @Override
  void record(int kind, @Nullable String key, @Nullable Object value) {
    switch (kind) {
      case USER -> run.user((Map<String, ?>) texts(value));
      case REQUEST -> run.context(ReportEvent.REQUEST_CONTEXT, value);
      case LEVEL -> run.level(value instanceof SentryLevel level ? level(level) : null);
      case FINGERPRINT -> run.fingerprint(value instanceof List<?> list ? strings(list) : null);
      case TRANSACTION -> run.transaction((String) value);
      case ENVIRONMENT -> {
        environment = (String) value;
        recordOptions();
      }
      case REPLAY -> run.context(ReportEvent.REPLAY_CONTEXT, value);
      case TRACE -> trace((String) value);
      case ATTRIBUTES -> run.context(ATTRIBUTES_CONTEXT, value);
      case FLAGS -> run.context(FeatureFlags.TYPE, value);
      case TAG -> run.tag(key, (String) value);
      case EXTRA -> run.extra(key, value);
      default -> run.context(key, value);
    }
  }

  private void trace(@Nullable String ids) {
    int dash = ids == null ? -1 : ids.indexOf('-');
    if (ids == null || dash < 0) {
      run.trace(null, null);
    } else {
      run.trace(ids.substring(0, dash), ids.substring(dash + 1));
    }
  }

  private static List<String> strings(List<?> list) {
    List<String> strings = new ArrayList<>(list.size());
    list.forEach(each -> strings.add(String.valueOf(each)));
    return strings;
  }

  private static @Nullable Map<String, Object> texts(@Nullable Object value) {
    if (!(value instanceof Map<?, ?> map)) {
      return null;
    }
    Map<String, Object> texts = new LinkedHashMap<>();
    map.forEach((key, each) -> texts.put(String.valueOf(key), each));
    return texts;
  }

  static Level level(@Nullable SentryLevel level) {
    if (level == null) {
      return Level.INFO;
    }
    return switch (level) {
      case DEBUG -> Level.DEBUG;
      case INFO -> Level.INFO;
      case WARNING -> Level.WARNING;
      case ERROR -> Level.ERROR;
      case FATAL -> Level.FATAL;
    };
  }
}
