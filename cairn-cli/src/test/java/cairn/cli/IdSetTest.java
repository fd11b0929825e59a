package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IdSetTest {
  @Test
  void whatWasAddedIsInItAndNothingElseAndASecondTimeIsNews() {
    IdSet ids = new IdSet();
    for (int i = 0; i < 10_000; i += 2) {
      assertThat(ids.add("app/20261130-204723-123-" + i + "-7f3a9c01")).isTrue();
    }
    for (int i = 0; i < 10_000; i++) {
      assertThat(ids.contains("app/20261130-204723-123-" + i + "-7f3a9c01")).isEqualTo(i % 2 == 0);
    }
    assertThat(ids.add("app/20261130-204723-123-0-7f3a9c01")).isFalse();
    assertThat(ids.size()).isEqualTo(5_000);
  }
}
