package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import io.sentry.Breadcrumb;
import io.sentry.SentryEvent;
import io.sentry.protocol.Request;
import io.sentry.protocol.SentryException;
import io.sentry.protocol.SentryId;
import io.sentry.protocol.SentryThread;
import io.sentry.protocol.User;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EventTrimTest {
  private final SentryEvent event = new SentryEvent(new Date(0));

  EventTrimTest() {
    event.setEventId(new SentryId("0102030405060708090a0b0c0d0e0f10"));
    event.getContexts().put("cairn", Map.of("run_id", "r"));
  }

  private void crumbs(int count, int length) {
    List<Breadcrumb> crumbs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Breadcrumb crumb = new Breadcrumb(new Date(i));
      crumb.setMessage(i + ":" + "x".repeat(length));
      crumbs.add(crumb);
    }
    event.setBreadcrumbs(crumbs);
  }

  private void spans(int count, int length) {
    List<Object> spans = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Map<String, Object> span = new HashMap<>();
      span.put("name", "span-" + i);
      span.put("attributes", Map.of("a", "y".repeat(length)));
      spans.add(span);
    }
    event.getContexts().put("open_spans", Map.of("count", count, "spans", spans));
  }

  private void trimTo(int maxBytes) throws IOException {
    new EventTrim(event).to(maxBytes);
    assertThat(EventJson.bytes(event).length).isLessThanOrEqualTo(maxBytes);
  }

  @SuppressWarnings("unchecked")
  private List<String> trimmed() {
    Map<String, Object> own = (Map<String, Object>) event.getContexts().get("cairn");
    assertThat(own).containsEntry("run_id", "r");
    return (List<String>) own.getOrDefault("trimmed", List.of());
  }

  private List<?> spansLeft() {
    return (List<?>) ((Map<?, ?>) event.getContexts().get("open_spans")).get("spans");
  }

  @Test
  void eventThatFitsIsLeftAsItIs() throws IOException {
    crumbs(100, 50);
    byte[] before = EventJson.bytes(event);

    trimTo(before.length);

    assertThat(EventJson.bytes(event)).isEqualTo(before);
  }

  @Test
  void oldestBreadcrumbsGoFirstAndOnlyAsManyAsNeeded() throws IOException {
    crumbs(100, 1_000);
    spans(10, 100);
    event.setExtra("large", "z".repeat(20_000));

    trimTo(80_000);

    List<Breadcrumb> left = Objects.requireNonNull(event.getBreadcrumbs());
    assertThat(left).hasSizeBetween(48, 55);
    assertThat(left.get(left.size() - 1).getMessage()).startsWith("99:");
    assertThat(trimmed()).containsExactly("breadcrumbs, the oldest: count=" + (100 - left.size()));
    assertThat(event.getExtra("large").toString()).hasSize(20_000);
  }

  @Test
  void thenTheLargestContextsAndExtrasGoAndTheOthersStay() throws IOException {
    crumbs(10, 100);
    event.setExtra("largest", "z".repeat(20_000));
    event.setExtra("small", "s");
    event.getContexts().put("large", new HashMap<>(Map.of("k", "z".repeat(10_000))));
    event.getContexts().put("medium", new HashMap<>(Map.of("k", "z".repeat(5_000))));
    spans(2, 500);

    trimTo(10_000);

    assertThat(event.getBreadcrumbs()).isEmpty();
    assertThat(event.getExtra("largest")).isEqualTo("trimmed: bytes=20002");
    assertThat(event.getContexts().get("large")).isEqualTo(Map.of("cairn", "trimmed: bytes=10008"));
    assertThat(event.getContexts().get("medium").toString()).contains("zzz");
    assertThat(event.getExtra("small")).isEqualTo("s");
    assertThat(spansLeft()).first().extracting("attributes").isNotNull();
  }

  @Test
  void thenAttributesOfOpenSpansGoAndThenTheYoungestSpans() throws IOException {
    spans(100, 200);
    trimTo(10_000);
    assertThat(spansLeft())
        .hasSize(100)
        .allSatisfy(span -> assertThat(((Map<?, ?>) span).get("attributes")).isNull());
    assertThat(trimmed()).containsExactly("attributes of open spans");

    trimTo(2_000);
    assertThat(spansLeft()).hasSizeBetween(10, 80).first().isEqualTo(Map.of("name", "span-0"));
    assertThat((Map<?, ?>) event.getContexts().get("open_spans"))
        .as("how many there were")
        .extracting("count")
        .isEqualTo(100);
  }

  @Test
  void manyThreadsAreFewer() throws IOException {
    List<SentryThread> threads = new ArrayList<>();
    for (long i = 1; i <= 1_000; i++) {
      SentryThread thread = new SentryThread();
      thread.setId(i);
      thread.setName("t".repeat(100));
      threads.add(thread);
    }
    event.setThreads(threads);

    trimTo(50_000);

    assertThat(event.getThreads()).hasSize(50).first().extracting("id").isEqualTo(1L);
  }

  @Test
  void whateverIsLargeItFits() throws IOException {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    System.out.println("EventTrimTest seed=" + seed);
    for (int round = 0; round < 200; round++) {
      crumbs(random.nextInt(120), size(random));
      spans(random.nextInt(120), size(random));
      event.getContexts().put("large", new HashMap<>(Map.of("k", "z".repeat(size(random)))));
      event.setExtra("extra", "z".repeat(size(random)));
      event.setTag("tag", "é".repeat(size(random)));
      event.setTransaction("t".repeat(size(random)));
      User user = new User();
      user.setId("u".repeat(size(random)));
      user.setData(Map.of("k", "\u0001".repeat(size(random))));
      event.setUser(user);
      Request request = new Request();
      request.setData("b".repeat(size(random)));
      event.setRequest(request);
      SentryException exception = new SentryException();
      exception.setValue("v".repeat(size(random)));
      event.setExceptions(List.of(exception));

      if (random.nextInt(4) == 0) {
        for (int i = 0; i < 200; i++) {
          event.setTag("tag" + i, "v".repeat(40));
          event.setExtra("extra" + i, "v".repeat(40));
          event.getContexts().put("context" + i, new HashMap<>(Map.of("k", "v".repeat(40))));
        }
        event.setFingerprints(Collections.nCopies(500, "part of it"));
      }

      trimTo(16_384);
    }
  }

  private static int size(Random random) {
    return random.nextInt(4) == 0 ? random.nextInt(60_000) : random.nextInt(50);
  }
}
