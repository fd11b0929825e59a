package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.BoxBuilder;
import cairn.report.Run;
import cairn.sentry.SentryReply.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SentryMarkTest {
  private static final Instant NOW = Instant.parse("2026-12-01T10:00:00Z");
  private static final SentryReply NO =
      new SentryReply(Outcome.REFUSED, 400, null, "status=400, error=a\nb");

  @TempDir Path root;
  private Run run;
  private Path file;

  @BeforeEach
  void setUp() {
    run = BoxBuilder.box().writeTo(root);
    file = run.storedReport().resolveSibling(run.id() + ".sentry");
  }

  private SentryMark mark() {
    return SentryMark.of(run);
  }

  @Test
  void runThatWasNeverSentIsDue() {
    assertThat(mark().isDelivered()).isFalse();
    assertThat(mark().due("host/1")).isEqualTo(Instant.EPOCH);
  }

  @Test
  void deliveredRunIsNeverDueAgainAndTheMarkIsForTheOwnerOnly() throws IOException {
    mark().delivered(NOW, "host/1");

    assertThat(mark().isDelivered()).isTrue();
    assertThat(mark().due("host/1")).isEqualTo(Instant.MAX);
    assertThat(mark().due("other/2")).isEqualTo(Instant.MAX);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(file).content().isEqualTo("delivered: 2026-12-01T10:00:00Z\nto: host/1\n");
  }

  @Test
  void refusedRunIsDueAfterPausesThatDoubleAndNeverAfterThirtyDays() throws IOException {
    Instant now = NOW;
    Duration pause = Duration.ofMinutes(10);
    int refusals = 0;
    while (true) {
      Instant next = mark().refused(now, NO, "host/1");
      refusals++;
      assertThat(mark().due("host/1")).isEqualTo(next);
      assertThat(mark().isDelivered()).isFalse();
      if (next.equals(Instant.MAX)) {
        break;
      }
      assertThat(Duration.between(now, next)).isEqualTo(pause);
      now = next;
      pause = pause.multipliedBy(2);
      pause = pause.compareTo(Duration.ofHours(24)) > 0 ? Duration.ofHours(24) : pause;
    }
    assertThat(Duration.between(NOW, now)).isBetween(Duration.ofDays(29), Duration.ofDays(30));
    assertThat(refusals).isBetween(30, 40);
    assertThat(mark().due("other/2")).as("another endpoint").isEqualTo(Instant.EPOCH);
    assertThat(file).content().contains("error=a?b").hasLineCount(6);
  }

  @Test
  void refusalOfAnotherEndpointBeginsAnewAndADeliveryEndsAll() throws IOException {
    mark().refused(NOW, NO, "host/1");
    mark().refused(NOW, NO, "host/1");
    Instant next = mark().refused(NOW.plusSeconds(5), NO, "other/2");

    assertThat(next).isEqualTo(NOW.plusSeconds(605));
    mark().delivered(NOW, "other/2");
    assertThat(mark().isDelivered()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "rubbish",
        "refused",
        "refused: x\nnext: soon\nrefusals: many\nfirst: y",
        "\u0000: \n:::"
      })
  void markThatCannotBeReadIsNone(String content) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);

    assertThat(mark().due("")).isEqualTo(Instant.EPOCH);
    assertThat(mark().isDelivered()).isFalse();
    mark().refused(NOW, NO, "host/1");
    assertThat(mark().due("host/1")).isEqualTo(NOW.plusSeconds(600));
  }

  @Test
  void runThatIsNoEventIsNeverDueAndNotDeliveredEither() throws IOException {
    mark().notNeeded(NOW);

    assertThat(mark().due("host/1")).isEqualTo(Instant.MAX);
    assertThat(mark().isDelivered()).isFalse();
  }

  @Test
  void linkIsNotFollowed() throws IOException {
    Path target = Files.writeString(root.resolve("elsewhere"), "delivered: x\nto: y\n");
    Files.createDirectories(file.getParent());
    Files.createSymbolicLink(file, target);

    assertThat(mark().isDelivered()).isFalse();
    mark().delivered(NOW, "host/1");
    assertThat(target).content().isEqualTo("delivered: x\nto: y\n");
    assertThat(mark().isDelivered()).isTrue();
  }
}
