package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FormsTest {
  interface Named {
    String name();
  }

  interface Numbered {
    int number();
  }

  static class Animal implements Named, Numbered {
    @Override
    public String name() {
      return "animal";
    }

    @Override
    public int number() {
      return 7;
    }
  }

  static class Dog extends Animal {}

  record Coin(long cents) {}

  private final CborWriter out = new CborWriter(new byte[10_000], new KeyCache(Secrets.STANDARD));

  private Object encoded(Forms forms, Object value) {
    out.reset(0, 10_000);
    ValueEncoder encoder = new ValueEncoder(out, EncodeLimits.DEFAULT, forms);
    assertThat(encoder.value(value)).isTrue();
    return CborJudge.read(out);
  }

  @Test
  void formOfTheClassComesBeforeThatOfItsSuperclassAndThatBeforeThoseOfInterfaces() {
    Forms interfaces =
        Forms.NONE
            .with(Numbered.class, v -> ((Numbered) v).number())
            .with(Named.class, v -> ((Named) v).name());
    assertThat(encoded(interfaces, new Dog())).isEqualTo(BigInteger.valueOf(7));
    Forms superclass = interfaces.with(Animal.class, v -> "Animal");
    assertThat(encoded(superclass, new Dog())).isEqualTo("Animal");
    Forms all = superclass.with(Dog.class, v -> "Dog");
    assertThat(encoded(all, List.of(new Dog(), new Animal()))).isEqualTo(List.of("Dog", "Animal"));
  }

  @Test
  void whatAFormReturnsIsEncodedLikeAnyOtherValue() {
    Forms forms =
        Forms.NONE
            .with(Coin.class, v -> Map.of("cents", ((Coin) v).cents(), "password", "hunter2"))
            .with(Animal.class, v -> new Coin(1));
    Object coin = Map.of("cents", BigInteger.ONE, "password", Secrets.MARK);
    assertThat(encoded(forms, new Coin(1))).isEqualTo(coin);
    assertThat(encoded(forms, List.of(new Dog()))).isEqualTo(List.of(coin));
    assertThat(encoded(Forms.NONE.with(Coin.class, v -> null), new Coin(1))).isNull();
  }

  @Test
  void formThatReturnsTheValueItselfIsNone() {
    assertThat(encoded(Forms.NONE.with(Coin.class, v -> v), new Coin(1)))
        .isEqualTo(Map.of("cents", BigInteger.ONE));
    assertThat(encoded(Forms.NONE.with(List.class, v -> v), List.of("a"))).isEqualTo(List.of("a"));
  }

  @Test
  void formThatThrowsOrNeverComesToAnEndIsAPlaceholderOrACut() {
    Forms throwing =
        Forms.NONE.with(
            Coin.class,
            v -> {
              throw new IllegalStateException();
            });
    assertThat(encoded(throwing, List.of(new Coin(1), "x")))
        .isEqualTo(List.of("<threw IllegalStateException>", "x"));
    assertThat(encoded(Forms.NONE.with(Coin.class, v -> new Coin(2)), new Coin(1))).isEqualTo("…");
    Forms cycle = Forms.NONE.with(ArrayList.class, v -> List.of(v));
    assertThat(encoded(cycle, new ArrayList<>()).toString()).startsWith("[").contains("<cycle>");
  }

  @Test
  void typesThatHaveAFormOrCanHaveNoneAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Forms.NONE.with(String.class, v -> v))
        .withMessage("type can have no form but its own: type=java.lang.String");
    assertThatIllegalArgumentException().isThrownBy(() -> Forms.NONE.with(int.class, v -> v));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Forms.NONE.with(Coin.class, v -> v).with(Coin.class, v -> v))
        .withMessageStartingWith("type has a form already: type=cairn.format.FormsTest");
  }

  @Test
  void valueThatIsALiteralIsWrittenAsWithoutTheCacheHoweverOften() {
    String[] values = {
      "GET", "/orders/{id}", "ü", "\ud800", "", "x".repeat(29), "x".repeat(31), "password=hunter2!"
    };
    for (int most : new int[] {3, 8, 256}) {
      for (String value : values) {
        out.reset(0, 10_000);
        out.redactions(0);
        int outcome = out.textCut(value, most);
        byte[] expected = Arrays.copyOf(out.bytes(), out.position());
        int redactions = out.redactions();
        for (int i = 0; i < 60; i++) {
          out.reset(0, 10_000);
          out.redactions(0);
          assertThat(out.valueCut(value, most)).isEqualTo(outcome);
          assertThat(Arrays.copyOf(out.bytes(), out.position())).isEqualTo(expected);
          assertThat(out.redactions()).as(value).isEqualTo(redactions);
        }
        // Where it doesn't fit, also when it is in the cache by now.
        for (int room = 0; room < expected.length; room++) {
          out.reset(0, room);
          int cut = out.textCut(value, most);
          byte[] rest = Arrays.copyOf(out.bytes(), out.position());
          out.reset(0, room);
          assertThat(out.valueCut(value, most)).isEqualTo(cut);
          assertThat(Arrays.copyOf(out.bytes(), out.position())).isEqualTo(rest);
        }
      }
    }
  }
}
