package cairn.sentry;

import io.sentry.Breadcrumb;
import io.sentry.SentryEvent;
import io.sentry.protocol.Contexts;
import io.sentry.protocol.SentryException;
import io.sentry.protocol.SentryStackFrame;
import io.sentry.protocol.SentryStackTrace;
import io.sentry.protocol.SentryThread;
import io.sentry.protocol.User;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Takes out of an event what can best be missed, until it is no larger than is taken. */
final class EventTrim {
  /*
   * From what can best be missed: old breadcrumbs; outer frames and more threads than anybody reads;
   * the largest contexts and extras; attributes of open spans, then the youngest of those spans; the
   * body of the request, the user's data, long tags. Each step goes only as far as needed, and the
   * context `cairn` says what it took.
   *
   * sentry-java can trim too, when asked to; it knows neither contexts nor open spans.
   */

  /** For what the context says of the trimming. */
  private static final int RESERVED = 1_024;

  private static final int MAX_FRAMES = 100;
  private static final int MAX_THREADS = 50;
  private static final int MAX_TEXT = 200;
  private static final int MAX_TAGS = 20;

  /** Smaller ones are not worth it. */
  private static final int SMALL = 128;

  private static final String OWN = "cairn";
  private static final String SPANS = "open_spans";

  private final SentryEvent event;
  private final List<String> trimmed = new ArrayList<>();

  EventTrim(SentryEvent event) {
    this.event = event;
  }

  /** {@return the event, changed so that it has at most that many bytes} */
  SentryEvent to(int maxBytes) {
    try {
      if (size() > maxBytes) {
        trim(maxBytes - RESERVED);
        say();
      }
      return event;
    } catch (IOException e) {
      throw new UncheckedIOException(e); // cannot be: it is written to memory
    }
  }

  private int size() throws IOException {
    return EventJson.bytes(event).length;
  }

  private void trim(int limit) throws IOException {
    breadcrumbs(size() - limit);
    if (size() > limit) {
      framesAndThreads();
    }
    values(size() - limit);
    if (size() > limit) {
      spanAttributes();
    }
    if (size() > limit) {
      rest();
    }
    if (size() > limit) {
      manySmallValues();
    }
    youngestSpans(size() - limit);
  }

  private void say() {
    if (event.getContexts().get(OWN) instanceof Map<?, ?> own) {
      Map<String, @Nullable Object> said = PlainValues.map(own);
      said.put("trimmed", trimmed);
      event.getContexts().put(OWN, said);
    }
  }

  private void breadcrumbs(int excess) throws IOException {
    List<Breadcrumb> all = event.getBreadcrumbs();
    int left = excess;
    int from = 0;
    while (all != null && left > 0 && from < all.size()) {
      left -= EventJson.bytes(all.get(from)).length + 1;
      from++;
    }
    if (all != null && from > 0) {
      event.setBreadcrumbs(new ArrayList<>(all.subList(from, all.size())));
      trimmed.add("breadcrumbs, the oldest: count=" + from);
    }
  }

  private void framesAndThreads() {
    List<SentryException> exceptions = event.getExceptions();
    for (SentryException exception : exceptions == null ? List.<SentryException>of() : exceptions) {
      SentryStackTrace trace = exception.getStacktrace();
      List<SentryStackFrame> frames = trace == null ? null : trace.getFrames();
      if (trace != null && frames != null && frames.size() > MAX_FRAMES) {
        int outer = frames.size() - MAX_FRAMES;
        trace.setFrames(new ArrayList<>(frames.subList(outer, frames.size())));
        trimmed.add("frames, the outermost: count=" + outer);
      }
    }
    List<SentryThread> threads = event.getThreads();
    if (threads != null && threads.size() > MAX_THREADS) {
      event.setThreads(new ArrayList<>(threads.subList(0, MAX_THREADS)));
      trimmed.add("threads: count=" + (threads.size() - MAX_THREADS));
    }
  }

  private record Sized(String key, boolean isContext, int size) {}

  private void values(int excess) throws IOException {
    if (excess <= 0) {
      return;
    }
    List<Sized> values = new ArrayList<>();
    Contexts contexts = event.getContexts();
    for (Map.Entry<String, Object> entry : contexts.entrySet()) {
      String key = entry.getKey();
      if (!key.equals(OWN) && !key.equals(SPANS) && !key.equals("trace")) {
        values.add(new Sized(key, true, EventJson.size(entry.getValue())));
      }
    }
    Map<String, Object> extras = event.getExtras();
    for (Map.Entry<String, Object> entry :
        extras == null ? List.<Map.Entry<String, Object>>of() : extras.entrySet()) {
      values.add(new Sized(entry.getKey(), false, EventJson.size(entry.getValue())));
    }
    values.sort(
        Comparator.comparingInt(Sized::size)
            .reversed()
            .thenComparing(Sized::key)
            .thenComparing(Sized::isContext));
    int left = excess;
    int count = 0;
    long bytes = 0;
    for (Sized value : values) {
      if (left <= 0 || value.size() < SMALL) {
        break;
      }
      String note = "trimmed: bytes=" + value.size();
      if (value.isContext()) {
        Map<String, Object> instead = new HashMap<>(); // a context is an object
        instead.put("cairn", note);
        contexts.put(value.key(), instead);
      } else {
        event.setExtra(value.key(), note);
      }
      left -= value.size() - note.length() - 2;
      count++;
      bytes += value.size();
    }
    if (count > 0) {
      trimmed.add("contexts and extras, the largest: count=" + count + ", bytes=" + bytes);
    }
  }

  private void spanAttributes() {
    if (event.getContexts().get(SPANS) instanceof Map<?, ?> context
        && context.get("spans") instanceof List<?> all) {
      List<Object> spans = new ArrayList<>();
      for (Object span : all) {
        Map<String, @Nullable Object> without = PlainValues.map((Map<?, ?>) span);
        without.remove("attributes");
        spans.add(without);
      }
      trimmed.add("attributes of open spans");
      put(context, spans);
    }
  }

  private void youngestSpans(int excess) throws IOException {
    if (event.getContexts().get(SPANS) instanceof Map<?, ?> context
        && context.get("spans") instanceof List<?> spans) {
      int kept = spans.size();
      for (int left = excess; left > 0 && kept > 0; ) {
        kept--;
        left -= EventJson.size(spans.get(kept)) + 1;
      }
      if (kept < spans.size()) {
        trimmed.add("open spans, the youngest: count=" + (spans.size() - kept));
        put(context, spans.subList(0, kept));
      }
    }
  }

  private void put(Map<?, ?> context, List<?> spans) {
    Map<String, Object> changed = new LinkedHashMap<>();
    context.forEach((key, value) -> changed.put(String.valueOf(key), value));
    changed.put("spans", List.copyOf(spans));
    event.getContexts().put(SPANS, changed);
  }

  /** What is left is texts: no step that goes only as far as needed is worth its code. */
  private void rest() {
    trimmed.add("request, user data and long texts");
    event.setRequest(null);
    User user = event.getUser();
    if (user != null) {
      User bare = new User();
      bare.setId(cut(user.getId()));
      bare.setEmail(cut(user.getEmail()));
      bare.setUsername(cut(user.getUsername()));
      event.setUser(bare);
    }
    Map<String, String> tags = event.getTags();
    if (tags != null) {
      Map<String, String> brief = new HashMap<>();
      tags.forEach((key, value) -> brief.put(key, String.valueOf(cut(value))));
      event.setTags(brief);
    }
    event.setTransaction(cut(event.getTransaction()));
    List<SentryException> exceptions = event.getExceptions();
    for (SentryException exception : exceptions == null ? List.<SentryException>of() : exceptions) {
      exception.setValue(cut(exception.getValue()));
    }
  }

  private void manySmallValues() {
    trimmed.add("contexts, extras, and all but " + MAX_TAGS + " tags");
    Contexts contexts = event.getContexts();
    List<String> keys = new ArrayList<>();
    contexts.entrySet().forEach(entry -> keys.add(entry.getKey()));
    keys.removeIf(key -> key.equals(OWN) || key.equals(SPANS) || key.equals("trace"));
    keys.forEach(contexts::remove);
    event.setExtras(new HashMap<>());
    Map<String, String> tags = event.getTags();
    if (tags != null) {
      Map<String, String> few = new HashMap<>();
      tags.keySet().stream()
          .sorted()
          .limit(MAX_TAGS)
          .forEach(key -> few.put(key, String.valueOf(tags.get(key))));
      event.setTags(few);
    }
    List<String> fingerprint = event.getFingerprints();
    if (fingerprint != null) {
      event.setFingerprints(
          fingerprint.stream().limit(MAX_TAGS).map(part -> String.valueOf(cut(part))).toList());
    }
  }

  private static @Nullable String cut(@Nullable String text) {
    if (text == null || text.length() <= MAX_TEXT) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT;
    return text.substring(0, end) + "…";
  }
}
