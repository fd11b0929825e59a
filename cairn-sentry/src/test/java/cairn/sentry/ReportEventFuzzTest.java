package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.report.BoxBuilder;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import io.sentry.SentryEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever a box holds, the event of it is one that sentry-java can read back. */
class ReportEventFuzzTest {
  private static final int ROUNDS = Integer.getInteger("cairn.sentry.fuzzRounds", 2_000);
  private static final List<String> CONTEXTS =
      List.of(
          "app",
          "browser",
          "device",
          "gpu",
          "os",
          "runtime",
          "feedback",
          "trace",
          "profile",
          "response",
          "spring",
          "art",
          "flags",
          "cairn",
          "open_spans",
          "own",
          "",
          "replay_id",
          ReportEvent.OPTIONS_CONTEXT,
          ReportEvent.REQUEST_CONTEXT,
          ReportEvent.REPLAY_CONTEXT);
  private static final List<String> FIELDS =
      List.of(
          "id",
          "email",
          "username",
          "ip_address",
          "name",
          "geo",
          "data",
          "segment",
          "url",
          "method",
          "query_string",
          "cookies",
          "headers",
          "env",
          "other",
          "fragment",
          "body_size",
          "api_target",
          "release",
          "dist",
          "environment",
          "sdk",
          "tags",
          "server_name",
          "version",
          "app_start_time",
          "app_name",
          "permissions",
          "in_foreground",
          "boot_time",
          "timezone",
          "memory_size",
          "battery_level",
          "archs",
          "orientation",
          "trace_id",
          "span_id",
          "parent_span_id",
          "op",
          "status",
          "traceId",
          "spanId",
          "values",
          "value",
          "type",
          "city");
  private static final List<String> TEXTS =
      List.of(
          "",
          "x",
          "2026-12-01T10:00:00.000Z",
          "0102030405060708090a0b0c0d0e0f10",
          "true",
          "\n\u0000",
          "0102030405060708",
          "00000000000000000000000000000000",
          "Europe/Berlin",
          "😀",
          "ok",
          "7");

  private final Random random;
  private final long seed;

  ReportEventFuzzTest() {
    seed = Long.getLong("cairn.sentry.fuzzSeed", System.nanoTime());
    random = new Random(seed);
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private Object value(int depth) {
    return switch (random.nextInt(depth > 3 ? 7 : 11)) {
      case 0 -> random.nextLong();
      case 1 -> (long) random.nextInt(100);
      case 2 -> random.nextBoolean();
      case 3 -> any(List.of(0.5, Double.NaN, Double.NEGATIVE_INFINITY, 1e300, -0.0));
      case 4, 5, 6 -> any(TEXTS);
      case 7 -> {
        List<Object> list = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          list.add(value(depth + 1));
        }
        yield list;
      }
      default -> map(depth + 1);
    };
  }

  private Map<String, Object> map(int depth) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      map.put(any(FIELDS), random.nextInt(12) == 0 ? null : value(depth));
    }
    return map;
  }

  private BoxBuilder box() {
    BoxBuilder box = BoxBuilder.box().beat(60_000);
    for (int i = random.nextInt(8); i > 0; i--) {
      box.scope(RecordLayout.KIND_CONTEXT, any(CONTEXTS), value(0));
      box.scope(RecordLayout.KIND_EXTRA, any(FIELDS), value(0));
      box.scope(RecordLayout.KIND_TAG, any(FIELDS), value(0));
    }
    box.scope(RecordLayout.KIND_USER, null, random.nextInt(4) == 0 ? value(0) : map(0));
    box.scope(RecordLayout.KIND_TRACE, null, random.nextInt(4) == 0 ? value(0) : map(0));
    box.scope(RecordLayout.KIND_FINGERPRINT, null, value(0));
    box.scope(RecordLayout.KIND_TRANSACTION, null, value(0));
    for (int slot = 0; slot < random.nextInt(4); slot++) {
      Map<Object, Object> begin =
          BoxBuilder.begin(any(TEXTS), random.nextInt(4), random.nextInt(9), any(TEXTS));
      if (random.nextBoolean()) {
        begin.put(SpanLayout.BEGIN_PARENT_SPAN_ID, (long) random.nextInt(4));
      }
      box.span(
          slot,
          begin,
          any(List.of("sentry.op", "sentry.transaction", "op")),
          value(3),
          "sentry.user." + any(FIELDS),
          value(3),
          "sentry.request." + any(FIELDS),
          value(3),
          "sentry.tag." + any(FIELDS),
          value(3));
    }
    for (int i = random.nextInt(4); i > 0; i--) {
      box.crumb(
          i,
          random.nextInt(5),
          any(TEXTS),
          any(TEXTS),
          any(FIELDS),
          value(0),
          "sentry.type",
          value(2));
    }
    if (random.nextInt(3) == 0) {
      box.uncaught(60_000, any(TEXTS), any(TEXTS), any(TEXTS), "main", random.nextBoolean());
      box.end("CLEAN", "UNCAUGHT", 60_010);
    }
    return box;
  }

  private void check(byte[] box, int round) {
    try {
      Report report = ReportOfBytes.readOrThrow(box);
      SentryEvent event = ReportEvent.of(report);
      if (event == null) {
        return;
      }
      byte[] envelope = Envelope.of(event, Instant.now());
      SentryEvent read = FakeSentry.read(Map.of(), envelope).event();
      assertThat(read.getEventId()).isEqualTo(ReportEvent.id(report));
      assertThat(read.isCrashed()).isTrue();
      assertThat(Envelope.of(Objects.requireNonNull(ReportEvent.of(report)), Instant.EPOCH))
          .hasSameSizeAs(Envelope.of(event, Instant.EPOCH));
    } catch (Exception | AssertionError e) {
      throw new AssertionError("seed=" + seed + ", round=" + round, e);
    }
  }

  @Test
  void whateverTheApplicationRecordedTheEventCanBeReadBack() {
    System.out.println("ReportEventFuzzTest seed=" + seed + ", rounds=" + ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
      check(box().bytes(), round);
    }
  }

  @Test
  void whateverDamageABoxHasTheEventCanBeReadBack() {
    byte[] sound =
        BoxBuilder.small()
            .beat(60_000)
            .scope(RecordLayout.KIND_TAG, "region", "eu")
            .scope(RecordLayout.KIND_USER, null, Map.of("id", "42"))
            .span(0, BoxBuilder.begin("POST /orders", 2, 0, "http-1"), "k", "v")
            .crumb(700, 0, "c", "m", "k", "v")
            .bytes();
    for (int round = 0; round < ROUNDS; round++) {
      byte[] damaged = sound.clone();
      for (int i = random.nextInt(3); i >= 0; i--) {
        damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        ReportOfBytes.readOrThrow(damaged);
      } catch (java.io.IOException e) {
        continue; // not a box any more: there is no report
      }
      check(damaged, round);
    }
  }
}
