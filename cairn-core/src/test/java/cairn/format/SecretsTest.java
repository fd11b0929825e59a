package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SecretsTest {
  private static boolean isSecret(Secrets secrets, String key) {
    byte[] utf8 = ("é" + key + "é").getBytes(StandardCharsets.UTF_8);
    return secrets.isSecretKey(new Secrets.Key(), utf8, 2, utf8.length - 2);
  }

  private static boolean isSecret(String key) {
    return isSecret(Secrets.STANDARD, key);
  }

  @Test
  void keysOfSecretsAreFoundInAnyCaseAndJoining() {
    for (String key :
        new String[] {
          "password",
          "Password",
          "dbPassword",
          "db.password",
          "password2",
          "user_passwd",
          "passPhrase",
          "client-secret",
          "secretKey",
          "authorization",
          "Proxy-Authorization",
          "credentials",
          "api key",
          "apiKey",
          "API_KEY",
          "X-Api-Key",
          "aws.access-key",
          "privateKey",
          "cookie",
          "Set-Cookie",
          "token",
          "access_token",
          "csrfToken",
          "XSRF-TOKEN",
          "pwd",
          "userPwd",
          "jwt",
          "idJwt",
          "sessionId",
          "JSESSIONID",
          "session_id",
          "cardNumber",
          "credit-card",
          "cvv",
          "card.cvv",
          "CVV2",
          "cvc",
          "cvc_code",
          "ssn",
          "user-ssn",
          "auth",
          "pass",
          "DB_PASS",
          "userPass",
          "é_token",
          "c.v.v",
          "пароль_password"
        }) {
      for (String cased :
          new String[] {key, key.toUpperCase(Locale.ROOT), key.toLowerCase(Locale.ROOT)}) {
        // A word of its own is told by its capital, if not by a separator.
        assertThat(isSecret(cased)).as(cased).isTrue();
      }
    }
  }

  @Test
  void keysThatOnlyResembleThemAreNot() {
    for (String key :
        new String[] {
          "",
          "-",
          "user",
          "id",
          "tokenizer",
          "token_count",
          "tokens",
          "tokensUsed",
          "maxTokens",
          "author",
          "authority",
          "authenticated",
          "oauth2",
          "passenger",
          "passed",
          "bypass",
          "compass",
          "boarding_pass_count",
          "sector",
          "key",
          "keyboard",
          "accessible",
          "session",
          "sessionIdle",
          "card",
          "cardNumberCount",
          "lesson",
          "missnamed",
          "classname",
          "cvvx",
          "jwts",
          "pwdx",
          "privat"
        }) {
      assertThat(isSecret(key)).as(key).isFalse();
      assertThat(isSecret(key.toUpperCase(Locale.ROOT))).as(key).isFalse();
    }
  }

  @Test
  void nothingIsSecretToNone() {
    assertThat(isSecret(Secrets.NONE, "password")).isFalse();
    assertThat(Secrets.NONE.hasForms()).isFalse();
    assertThat(isSecret(Secrets.NONE.withKeys(List.of("iban")), "iban")).isTrue();
    assertThat(isSecret(Secrets.NONE.withKeys(List.of("iban")), "password")).isFalse();
  }

  @Test
  void keysOfTheApplicationAreWholeWords() {
    Secrets secrets = Secrets.STANDARD.withKeys(List.of("iban", "customer id", "größe"));
    for (String key :
        new String[] {
          "iban",
          "IBAN",
          "customerIban",
          "IBANNumber",
          "iban2",
          "my-iban.old",
          "customerId",
          "NEW_CUSTOMER_ID",
          "customer id",
          "größe",
          "die-größe",
          "password"
        }) {
      assertThat(isSecret(secrets, key)).as(key).isTrue();
    }
    for (String key : new String[] {"ibanez", "turiban", "customer", "customerIdle", "grösse"}) {
      assertThat(isSecret(secrets, key)).as(key).isFalse();
    }
  }

  @Test
  void allowedKeysAreWholeKeysAndComeBeforeAllOthers() {
    Secrets secrets =
        Secrets.STANDARD
            .withKeys(List.of("iban"))
            .withAllowed(List.of("token_endpoint_token", "iban"));
    assertThat(isSecret(secrets, "tokenEndpointToken")).isFalse();
    assertThat(isSecret(secrets, "IBAN")).isFalse();
    assertThat(isSecret(secrets, "my_iban")).isTrue();
    assertThat(isSecret(secrets, "token")).isTrue();
  }

  @Test
  void nameWithoutALetterOrDigitIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Secrets.STANDARD.withKeys(List.of("-_")))
        .withMessage("key has no letter or digit: key=-_");
  }

  @Test
  void keyOfTheMostBytesIsReadToItsEnd() {
    assertThat(isSecret("x".repeat(120) + "password")).isTrue();
    assertThat(isSecret("x_".repeat(60) + "password")).isTrue();
  }

  @Test
  void valueUnderASecretKeyIsRedactedWholeAtAnyDepthAndCounted() {
    CborWriter out = new CborWriter(new byte[10_000], new KeyCache(Secrets.STANDARD));
    ValueEncoder encoder = new ValueEncoder(out, EncodeLimits.DEFAULT);
    Object value =
        Map.of(
            "list",
            List.of(
                Map.of("password", List.of("a", Map.of("b", "c"))),
                Map.of("token", 17),
                Map.of("secret", true),
                Map.entry("cvv", "123")));
    for (int again = 0; again < 3; again++) {
      out.reset(0, 10_000);
      encoder.resetCounts();
      assertThat(encoder.value(value)).isTrue();
      assertThat(CborJudge.read(out))
          .isEqualTo(
              Map.of(
                  "list",
                  List.of(
                      Map.of("password", Secrets.MARK),
                      Map.of("token", Secrets.MARK),
                      Map.of("secret", true),
                      Map.of("cvv", Secrets.MARK))));
      assertThat(out.redactions()).isEqualTo(3);
    }
  }

  @Test
  void decimalThatIsACardIsRedactedWholeAndOneWithItsDigitsIsNone() {
    CborWriter out = new CborWriter(new byte[10_000], new KeyCache(Secrets.STANDARD));
    ValueEncoder encoder = new ValueEncoder(out, EncodeLimits.DEFAULT);
    BigDecimal amount = new BigDecimal("41111111111111.11");
    BigDecimal card = new BigDecimal("4111111111111111");
    assertThat(encoder.value(List.of(amount, card, card.negate()))).isTrue();
    assertThat(CborJudge.read(out)).isEqualTo(List.of(amount, Secrets.MARK, card.negate()));
  }

  @Test
  void doubleThatIsACardIsRedactedAndOneWithAFractionIsNone() {
    CborWriter out = new CborWriter(new byte[10_000], new KeyCache(Secrets.STANDARD));
    ValueEncoder encoder = new ValueEncoder(out, EncodeLimits.DEFAULT);
    double[] values = {4111111111111111d, 4111111111111110d, 41111111111111.5, -4111111111111111d};
    assertThat(encoder.value(values)).isTrue();
    assertThat(CborJudge.read(out))
        .isEqualTo(List.of(Secrets.MARK, values[1], values[2], values[3]));
    assertThat(out.redactions()).isEqualTo(1);
  }

  @Test
  void keysAreTextsToo() {
    CborWriter out = new CborWriter(new byte[10_000], new KeyCache(Secrets.STANDARD));
    ValueEncoder encoder = new ValueEncoder(out, EncodeLimits.DEFAULT);
    assertThat(encoder.value(Map.of("4111111111111111", 1))).isTrue();
    assertThat(CborJudge.read(out).toString()).isEqualTo("{<redacted>=1}");
    assertThat(out.redactions()).isEqualTo(1);
  }
}
