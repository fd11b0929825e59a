package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Level;
import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.UnfinishedSpan;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Two answered requests, a1 and a2, and one in flight, f1; each test breaks one thing. */
class DemoCheckTest {
  private static final long RING = 2 << 20;

  private final List<DemoRequest> requests =
      new ArrayList<>(
          List.of(
              new DemoRequest("a1", "GET /products", "1", 100, 200, 200),
              new DemoRequest("a2", "POST /cart", "1", 300, 400, 200),
              new DemoRequest("f1", "POST /orders", "1", 500, 0, 0)));
  private final Set<String> arrived = new HashSet<>(Set.of("a1", "a2", "f1"));
  private final Set<String> begun = new HashSet<>(Set.of("a1", "a2", "f1"));
  private final Set<String> ended = new HashSet<>(Set.of("a1", "a2"));
  private final List<Breadcrumb> trail =
      new ArrayList<>(
          List.of(
              breadcrumb(RING, "shop", "listening", Map.of()),
              answer(RING + 96, "a1"),
              answer(RING + 192, "a2")));
  private final List<UnfinishedSpan> spans =
      new ArrayList<>(List.of(span("POST /orders", "f1", "1")));
  private Cause cause = Cause.KILLED;

  @Test
  void everythingOnRecordIsNoProblem() {
    assertThat(check())
        .isEqualTo(
            new DemoCheck(
                "checked: 2 answered requests, 2 breadcrumbs; 1 in flight, 1 open span",
                List.of()));
  }

  @Test
  void answerWithoutBreadcrumbIsAProblem() {
    trail.remove(1);

    assertThat(check().problems())
        .containsExactly("answered without a breadcrumb: request=a1, name=GET /products");
    assertThat(check().summary()).contains("2 answered requests, 1 breadcrumb;");
  }

  @Test
  void breadcrumbOfAnotherKindIsNotThatOfTheAnswer() {
    trail.set(1, breadcrumb(RING + 96, "db", "SELECT", Map.of("request.id", "a1")));

    assertThat(check().problems()).hasSize(1);
  }

  @Test
  void twoBreadcrumbsForOneRequestAreAProblem() {
    trail.add(answer(RING + 288, "a2"));

    assertThat(check().problems())
        .containsExactly("two breadcrumbs: request=a2, positions=2097344 and 2097440");
  }

  @Test
  void begunRequestWithoutOpenSpanIsAProblem() {
    spans.clear();

    assertThat(check().problems())
        .containsExactly("begun without an open span: request=f1, name=POST /orders");
    assertThat(check().summary()).endsWith("1 in flight, 0 open spans");
  }

  @Test
  void deathWithinTheEndOfTheSpanLeavesTheBreadcrumb() {
    spans.clear();
    trail.add(answer(RING + 288, "f1"));

    assertThat(check().problems()).isEmpty();
    assertThat(check().summary())
        .endsWith("0 in flight, 0 open spans; 1 the answer lost on its way");
  }

  @Test
  void endedRequestWithoutAnswerNeedsItsBreadcrumb() {
    ended.add("f1");
    spans.clear();

    assertThat(check().problems())
        .containsExactly("ended without a breadcrumb: request=f1, name=POST /orders");
  }

  @Test
  void endedRequestThatIsStillAnOpenSpanIsAProblem() {
    spans.add(span("POST /cart", "a2", "1"));

    assertThat(check().problems()).containsExactly("ended, and still an open span: request=a2");
  }

  @Test
  void answeredRequestMayBeAnOpenSpanUntilItHasEnded() {
    spans.add(span("POST /cart", "a2", "1"));
    ended.remove("a2");

    assertThat(check().problems()).isEmpty();
    assertThat(check().summary()).endsWith("1 answered, the span not yet ended");
  }

  @Test
  void requestThatHadNotBegunNeedsNoSpan() {
    requests.add(new DemoRequest("f2", "GET /products", "2", 500, 0, 0));
    requests.add(new DemoRequest("f3", "GET /products", "3", 500, 0, 0));
    arrived.add("f2");

    assertThat(check().problems()).isEmpty();
    assertThat(check().summary())
        .endsWith("; 1 arrived, the span not yet begun; 1 had not reached the shop");
  }

  @Test
  void openSpanOfARequestThatNeverArrivedIsAProblem() {
    spans.add(span("GET /products", "z9", "1"));

    assertThat(check().problems())
        .containsExactly("open span of a request that never arrived: request=z9");
  }

  @Test
  void openSpanWithAnotherNameOrUserIsAProblem() {
    spans.set(0, span("POST /orders", "f1", "2"));
    assertThat(check().problems()).hasSize(1);

    spans.set(0, span("POST /cart", "f1", "1"));
    assertThat(check().problems()).hasSize(1);
  }

  @Test
  void spanInsideARequestIsNotCounted() {
    spans.add(
        new UnfinishedSpan(
            "charge card", "02", "01", null, null, null, 5, Map.of(), null, -1, null, null, 0));

    assertThat(check().problems()).isEmpty();
    assertThat(check().summary()).endsWith("1 in flight, 1 open span");
  }

  @Test
  void answerThatTheShopDidNotWitnessIsAProblem() {
    begun.remove("a1");

    assertThat(check().problems())
        .containsExactly("answered, and the shop did not witness it: request=a1");
  }

  @Test
  void otherVerdictIsAProblem() {
    cause = Cause.UNKNOWN;

    assertThat(check().problems()).containsExactly("wrong verdict: cause=UNKNOWN, expected=KILLED");
  }

  @Test
  void breadcrumbThatAFullRingEvictedIsNotMissed() {
    trail.clear();
    trail.add(breadcrumb(3 * RING, "db", "SELECT", Map.of()));
    trail.add(answer(4 * RING - 96, "a2"));

    assertThat(check().problems()).isEmpty();
    assertThat(check().summary())
        .isEqualTo(
            "checked: 1 answered request, 1 breadcrumb; 1 in flight, 1 open span;"
                + " 1 answered before the trail's oldest breadcrumb");
  }

  @Test
  void breadcrumbSentAfterASurvivingAnswerIsMissedInAFullRing() {
    trail.clear();
    trail.add(breadcrumb(3 * RING, "db", "SELECT", Map.of()));
    trail.add(answer(4 * RING - 192, "a1"));
    trail.add(breadcrumb(4 * RING - 96, "db", "SELECT", Map.of()));

    assertThat(check().problems())
        .containsExactly("answered without a breadcrumb: request=a2, name=POST /cart");
  }

  @Test
  void answerAmongTheOldestOfAFullRingIsNoMeasure() {
    trail.clear();
    trail.add(answer(3 * RING, "a1"));
    trail.add(breadcrumb(4 * RING - 96, "db", "SELECT", Map.of()));

    assertThat(check().problems()).isEmpty();
  }

  @Test
  void trailThatLostItsStartBeforeItWasFullIsAProblem() {
    trail.remove(0);
    assertThat(check().problems()).containsExactly("trail is too short: bytes=96, limit=1966080");

    trail.clear();
    assertThat(check().problems()).containsExactly("trail is too short: bytes=0, limit=1966080");
  }

  private DemoCheck check() {
    return DemoCheck.of(requests, new DemoWitness(arrived, begun, ended), trail, spans, cause);
  }

  private static Breadcrumb answer(long position, String id) {
    return breadcrumb(position, "http", "GET /x -> 200", Map.of("request.id", id));
  }

  private static Breadcrumb breadcrumb(
      long position, String category, String message, Map<String, Object> data) {
    return new Breadcrumb(
        position, Instant.EPOCH, Level.INFO, category, message, Map.copyOf(data), null, null);
  }

  private static UnfinishedSpan span(String name, String id, String user) {
    return new UnfinishedSpan(
        name,
        "01",
        null,
        null,
        null,
        null,
        5,
        Map.of("request.id", id, "user", user),
        null,
        -1,
        null,
        null,
        0);
  }
}
