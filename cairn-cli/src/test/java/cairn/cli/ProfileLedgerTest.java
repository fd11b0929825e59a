package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfileLedgerTest {
  private static final ProfileDisk MEMORY =
      new ProfileDisk("tmpfs", "tmpfs", 1L << 30, null, null, null);

  private final ProfileLedger ledger = ProfileFigures.flash().ledger(ProfileFigures.DISK);

  @Test
  void theSharesOfADurableWriteAreTheDifferencesBetweenTheLayers() {
    assertThat(ledger.durableWrite())
        .extracting(ProfileLedger.Part::name)
        .containsExactly("encode", "write", "force");
    assertThat(ledger.durableWrite().get(0).share()).isEqualTo(0.01, within(0.0005));
    assertThat(ledger.durableWrite().get(1).share()).isEqualTo(0.015, within(0.0005));
    assertThat(ledger.durableWrite().get(2).share()).isEqualTo(0.975, within(0.0005));
  }

  @Test
  void aForceFasterThanTheWriteWithoutItHasNoNegativeShare() {
    ProfileLedger odd =
        new ProfileFigures()
            .layer(ProfileLayers.ENCODE, 2)
            .layer(ProfileLayers.WRITE, 5)
            .layer(ProfileLayers.FORCE, 4)
            .ledger(MEMORY);

    assertThat(odd.durableWrite()).allMatch(part -> part.share() >= 0 && part.share() <= 1);
    assertThat(odd.durableWrite().get(2).micros()).isZero();
  }

  @Test
  void withoutOneOfItsLayersADurableWriteIsNotTakenApart() {
    assertThat(
            new ProfileFigures()
                .layer(ProfileLayers.ENCODE, 2)
                .failed(ProfileLayers.WRITE, "No space left on device")
                .layer(ProfileLayers.FORCE, 200)
                .ledger(ProfileFigures.DISK)
                .durableWrite())
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "1, power()",
    "499, power()",
    "501, bounded(20)",
    "9900, bounded(20)",
    "10100, bounded(100)",
    "49000, bounded(100)",
    "51000, process()"
  })
  void suggestedIsTheStrongestWhoseForcesTakeAtMostATenthOfTheTime(int rate, String suggested) {
    ProfileLedger.Rate at = ledger.at(rate);

    assertThat(at.suggested()).isEqualTo(suggested);
    assertThat(at.powerBusy()).isEqualTo(rate * 0.0002, within(0.01 * rate * 0.0002));
  }

  @Test
  void aBoundedBatchIsWhatComesInItsDelayOrItsCount() {
    // 1 that starts the delay, 1 more in 100 ms, 1 while the force runs.
    assertThat(ledger.at(10).smallLost()).isEqualTo(3);
    assertThat(ledger.at(10).largeLost()).isEqualTo(3);
    assertThat(ledger.at(10_000).smallLost()).isBetween(22L, 23L);
    assertThat(ledger.at(10_000).largeLost()).isBetween(102L, 103L);
    assertThat(ledger.at(10_000).processLost()).isEqualTo(350_000);
  }

  @Test
  void whereForcesBuyNothingOnlyProcessIsSuggested() {
    assertThat(ProfileFigures.flash().ledger(MEMORY).at(1).suggested()).isEqualTo("process()");
    assertThat(
            new ProfileFigures()
                .layer(ProfileLayers.WRITE, 5)
                .layer(ProfileLayers.FORCE, 8)
                .ledger(ProfileFigures.DISK)
                .at(1)
                .suggested())
        .isEqualTo("process()");
  }

  @Test
  void withoutAForceNothingIsSaidOfRates() {
    assertThat(
            new ProfileFigures().layer(ProfileLayers.WRITE, 5).ledger(ProfileFigures.DISK).at(100))
        .isNull();
  }

  @Test
  void aStreamBufferLosesWhatItHoldsWithTheProcess() {
    assertThat(ledger.prices(100))
        .extracting(ProfileLedger.Price::name, ProfileLedger.Price::processDeathEvents)
        .startsWith(tuple("stream buffer", 32L), tuple("process()", 0L));
  }
}
