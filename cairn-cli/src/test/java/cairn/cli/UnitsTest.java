package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnitsTest {
  @ParameterizedTest
  @CsvSource({
    "PT-5S, 0 s",
    "PT0.35S, 350 ms",
    "PT41S, 41 s",
    "PT59.9S, 59 s",
    "PT5M, 5 min",
    "PT2H, 2 h",
    "PT2H5M59S, 2 h 5 min",
    "P3D, 3 d",
    "P3DT4H, 3 d 4 h",
  })
  void anAgeHasAtMostTwoUnits(Duration age, String text) {
    assertThat(Units.age(age)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0s, PT0S",
    "45s, PT45S",
    "30m, PT30M",
    "12h, PT12H",
    "7d, P7D",
    "2w, P14D",
    "1d12h, P1DT12H"
  })
  void aDurationIsNumbersWithUnits(String text, Duration duration) {
    assertThat(Units.parse(text)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "7",
        "d",
        "7y",
        "-1d",
        "7 d",
        "1.5d",
        "d7",
        "99999999999999999999d",
        "9223372036854775807w",
        "999999999w",
        "٧d"
      })
  void anythingElseIsNoDuration(String text) {
    assertThat(Units.parse(text)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "1023, 1023 B",
    "1024, 1.0 KiB",
    "4194304, 4.0 MiB",
    "9223372036854775807, 8.0 EiB"
  })
  void aSizeHasABinaryUnit(long bytes, String text) {
    assertThat(Units.size(bytes)).isEqualTo(text);
  }

  @Test
  void aTimeHasMillisecondsAlsoWhereTheyAreZero() {
    assertThat(Units.rfc3339(Instant.parse("2026-11-30T14:03:07Z")))
        .isEqualTo("2026-11-30T14:03:07.000Z");
  }
}
