package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SecretTextTest {
  private static final int CAPACITY = 20_000;
  private static final int ALL_KINDS = SecretText.CARD | SecretText.URL | SecretText.WORD;

  private final CborWriter out = new CborWriter(new byte[CAPACITY], new KeyCache(Secrets.STANDARD));

  /** Texts with a secret between « and »: what is between must go, and nothing else. */
  private static final String[] SECRET = {
    "password=«hunter2»",
    "password: «hunter2»",
    "user=me&password=«hunter2»&remember=1",
    "PASSWORD = «hunter2» # of the database",
    "spring.datasource.password=«hunter2»",
    "db_password:«hunter2»",
    "passwd=«hunter2»;database=shop",
    "{\"password\":\"«hunter2»\",\"user\":\"me\"}",
    "{\"password\" : \"«hun\\\"ter2»\"}",
    "{'password': '«hunter2»'}",
    "{\\\"password\\\":\\\"«hunter2»\\\",\\\"user\\\":\\\"me\\\"}",
    "{\\\\\\\"password\\\\\\\":\\\\\\\"«hunter2»\\\\\\\"}",
    "{\\\"password\\\":\\\"«hun\\\\\\\"ter2»\\\"}",
    "{password=«hunter2», user=me}",
    "Login[user=me, password=«hunter2»]",
    "\"password\":[\"«hunter2»\"]",
    "'password' => '«hunter2»'",
    "password := «hunter2»",
    "<password>«hunter2»</password>",
    "<Secret>«hunter2»</Secret>",
    "[token=«abc»]",
    "|token=«abc»|",
    "password_confirmation=«hunter2»&x=1",
    "new_password2=«hunter2»",
    "\"passwordRepeat\":\"«hunter2»\"",
    "passphrase=«correct-horse»",
    "client_secret=«s3cr3t»&grant_type=x",
    "secret_key=«s3cr3t»",
    "secretKey: «s3cr3t»",
    "access_token=«ya29.a0Af»&expires_in=3599",
    "\"refreshToken\":\"«abc»\"",
    "token=«abc»",
    "X-Auth-Token: «abc»",
    "refreshToken: «abc»",
    "csrf_token:\t«abc»",
    "password\t=\t«hunter2»",
    "password={noop}«hunter2»",
    "password: \"«{bcrypt}$2a$10$abc»\"",
    "JSESSIONID=«31D4D96E»; Path=/",
    "/cart;jsessionid=«31D4D96E»",
    "session_id=«abc123»",
    "credentials=«abc»",
    "X-Amz-Credential=«AKIA/2026»&x=1",
    "creditCard=«none»",
    "card_number: «abc»",
    "token: «a1b2c3d4»",
    "api_key=«AIzaSy»",
    "apiKey:«AIzaSy»",
    "X-Api-Key: «AIzaSy»",
    "API key: «AIzaSy»",
    "aws_access_key=«AKIA»",
    "private_key=«abc»",
    "Authorization: «Basic dXNlcjpwYXNz»",
    "authorization=[«Basic dXNlcjpwYXNz]}»",
    "\"authorization\":\"«Basic dXNlcjpwYXNz»\"",
    "Proxy-Authorization: «Digest abc»\r\nHost: example",
    "Cookie: «SID=31d4d96e; lang=en»\nHost: example",
    "set-cookie: «JSESSIONID=31d4d96e; Path=/»",
    "Bearer «a1b2c3d4e5»",
    "bearer «abcdefghijklmnopqrstuvwxyz»",
    "sent Bearer   «aB34.cdef_gh-ij» to it",
    "令牌Bearer «a1b2c3d4e5»。",
    "validated «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4» for it",
    "/reset/«eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.e30.abc»/x",
    "https://«me:hunter2»@example.com/a?b",
    "https://«me:hun@ter2»@example.com/a",
    "https://«me:hun/ter2»@example.com/a",
    "redis://«:hunter2»@localhost:6379",
    "jdbc:postgresql://«me:hunter2»@db:5432/shop",
    "git clone https://«ghp_16C7e42F292c6912E7710c838347Ae178B4a»@github.com/a/b.git",
    "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----".transform(s -> "«" + s + "»"),
    "key: «-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----»\\n",
    "«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA»",
    // Test numbers that the networks publish.
    "4111111111111111".transform(s -> "«" + s + "»"),
    "paid by «4012888888881881», thanks",
    "card «4111 1111 1111 1111»",
    "card «4111-1111-1111-1111».",
    "card «5555 5555 5555 4444» 12/29 123",
    "«5105105105105100» «4222222222222220»",
    "«2223003122003222»",
    "«2720 9926 0004 0012»".replace("2720 9926 0004 0012", "2720 9999 9999 9996"),
    "«6011111111111117»",
    "«3530111333300000»",
    "«378282246310005»",
    "«3782 822463 10005»",
    "«30569309025904»",
    "«3056 930902 5904»",
    "«6200000000000005»",
    "«6759649826438453»",
    "{\"number\":\"«4111111111111111»\"}",
    "{\\\"number\\\":\\\"«4111111111111111»\\\"}",
    "number=«4111111111111111»&cvc=123",
    "卡号«4111111111111111»。",
    "n° «4111 1111 1111 1111» ✓",
    "2026-11-30 «4111 1111 1111 1111» ok",
    "1234 «4111 1111 1111 1111» 99",
    "order 123 «4111111111111111» 4711",
  };

  /** Texts that are recorded as they are. */
  private static final String[] HARMLESS = {
    "",
    "GET /orders/4711?page=2&token_count=5 200 12 ms",
    "2026-11-30T15:04:05.123456789Z",
    "20261130150405123",
    "1764511445123",
    "1764511445123456",
    "1764511445123456789",
    "took 4012888888881881.5 ns".replace("4012888888881881", "3.4012888888881881"),
    "ratio 0.4111111111111111",
    "7f3c9a52-1b4d-4e8f-9c3a-2d5e6f708192",
    "4111aaaa-1111-4111-8111-411111111111",
    "runs/20261130-140000-000-4711-0badcafe",
    "+49 30 1234 5678 and (415) 555-2671, 0049 30 12345678",
    "+4111111111111111",
    "4111111111111112",
    "9111111111111111",
    "1234567812345670",
    "41111111111111111",
    "0x4111111111111111 and a4111111111111111f",
    "DE89 3704 0044 0532 0130 00",
    "10.0.0.17:5432 and [::1]:8080",
    "SELECT id, token FROM users WHERE password = ? AND secret = $1 AND token = :token",
    "INSERT INTO tokens (token, password_hash) VALUES (?, ?)",
    "unexpected token: }",
    "Unexpected token: name at line 3",
    "token: expected",
    "max_tokens=500&tokenizer=bpe&token_type=x",
    "password={} user={}",
    "password=null, secret=***, token=<redacted>",
    "password=${DB_PASSWORD}",
    "password=true passwordless=true",
    "the password is wrong; a secret; secrets: none; bearer of bad news",
    "WWW-Authenticate: Bearer realm=\"shop\"",
    "Bearer authentication failed",
    "git@github.com:me/shop.git",
    "ssh://git@github.com/me/shop.git",
    "https://example.com:8443/a?mail=me@example.com",
    "http://[fe80::1]:80/a@b",
    "https://medium.example/@me/post",
    "mailto:me@example.com",
    "me@example.com, you@example.org",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
    "secretary: Ms Key; secretariat=open",
    "java.lang.IllegalStateException: no\n\tat shop.Order.pay(Order.java:4111)\n"
        + "\tat java.base/java.lang.Thread.run(Thread.java:1583)",
    "com.shop.TokenStore$1@4f3f5b24",
    "eyJust a name. And.More",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  };

  private String written(String text, int maxBytes) {
    out.reset(0, CAPACITY);
    out.redactions(0);
    assertThat(out.textCut(text, maxBytes)).isNotEqualTo(CborWriter.NONE);
    return (String) CborJudge.read(out);
  }

  private String written(String text) {
    return written(text, CAPACITY);
  }

  private static String plain(String marked) {
    return marked.replace("«", "").replace("»", "");
  }

  private static String expected(String marked) {
    return marked.replaceAll("(?s)«.*?»", Secrets.MARK);
  }

  private static int secrets(String marked) {
    return (int) marked.chars().filter(c -> c == '«').count();
  }

  @Test
  void secretIsRedactedAndNothingElse() {
    for (String marked : SECRET) {
      assertThat(written(plain(marked))).isEqualTo(expected(marked));
      assertThat(out.redactions()).as(marked).isEqualTo(secrets(marked));
    }
  }

  @Test
  void whatOnlyLooksLikeASecretStays() {
    for (String text : HARMLESS) {
      assertThat(written(text)).isEqualTo(text);
      assertThat(out.redactions()).isZero();
    }
  }

  @Test
  void textThatWasRedactedIsNotRedactedAgain() {
    for (String marked : SECRET) {
      String once = expected(marked);
      assertThat(written(once)).isEqualTo(once);
    }
  }

  @Test
  void secretIsFoundAtEveryPlaceInAnyCaseAndAmongAnyCharacters() {
    for (String marked : SECRET) {
      for (String padding : new String[] {" ", "x ", "é ", "水，", "😀"}) {
        for (int before = 0; before <= 20; before++) {
          String text = padding.repeat(before) + marked + (" " + padding).repeat(20 - before);
          // A secret that goes on to the end of the text takes what follows with it.
          String read = written(plain(text));
          String start = padding.repeat(before) + marked.substring(0, marked.indexOf('«'));
          assertThat(read).as(text).startsWith(start + Secrets.MARK);
        }
      }
    }
  }

  @Test
  void secretIsFoundAcrossTheEndOfAChunk() {
    for (String marked : SECRET) {
      String plain = plain(marked);
      for (int before = 1024 - plain.length() - 2; before < 1030; before++) {
        String read = written("-".repeat(Math.max(0, before - 1)) + " " + plain);
        assertThat(read).as("%s after %s", marked, before).endsWith(" " + expected(marked));
      }
    }
  }

  @Test
  void upperAndLowerCaseOfANameAreTheSame() {
    for (String name :
        new String[] {"password", "passwd", "secret", "token", "api_key", "cookie"}) {
      for (String separator : new String[] {"=", ": ", " = ", "\":\"", "'='", "\\\":\\\""}) {
        String value = name.equals("token") ? "a1B2c3d4" : "hunter2";
        for (String cased :
            new String[] {
              name,
              name.toUpperCase(Locale.ROOT),
              name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1)
            }) {
          for (int before = 0; before < 9; before++) {
            String text = " ".repeat(before) + cased + separator + value;
            assertThat(written(text)).as(text).doesNotContain(value).contains(Secrets.MARK);
          }
        }
      }
    }
  }

  @Test
  void numberOfACardIsNotLeftAtACutBeyondItsFirstSixDigits() {
    for (String marked : SECRET) {
      String secret = marked.substring(marked.indexOf('«') + 1, marked.indexOf('»'));
      if (secret.chars().allMatch(c -> c == ' ' || c == '-' || (c >= '0' && c <= '9'))) {
        cutEverywhere(plain(marked), secret, 6);
      }
    }
  }

  @Test
  void noByteOfASecretIsLeftBeforeTheMarkOfACut() {
    for (String marked : SECRET) {
      int start = marked.indexOf('«');
      String secret = marked.substring(start + 1, marked.indexOf('»'));
      boolean named = start > 0 && !Character.isDigit(secret.charAt(0));
      // Of what shows only by its own beginning, or by what follows, some has to be there.
      boolean ownBeginning = secret.startsWith("eyJ") || secret.startsWith("-----");
      boolean user = marked.contains("://");
      if (named && !ownBeginning && !user) {
        cutEverywhere(plain(marked), secret, 0);
      }
    }
    cutEverywhere("https://me:hunter2@example.com", "hunter2", 0);
    cutEverywhere("https://me:1234567@example.com", "1234567", 0);
    cutEverywhere("https://me:hun/ter2@example.com", "hun/ter2", 0);
    cutEverywhere(
        "https://ghp_16C7e42F292c6912E7710c838347Ae178B4a@x",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        19);
    cutEverywhere(
        "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxw y",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxw",
        2);
    cutEverywhere(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE", 0);
  }

  /**
   * Cuts a text that goes on with blanks at every place from the secret's first byte to its last.
   */
  private void cutEverywhere(String text, String secret, int mayBeLeft) {
    String longer = text + " ".repeat(100);
    int at = text.indexOf(secret);
    for (int kept = at; kept <= at + secret.length(); kept++) {
      int max = longer.substring(0, kept).getBytes(StandardCharsets.UTF_8).length + 3;
      if (max < 11) {
        continue;
      }
      String read = written(longer, max);
      String left = longest(read, secret);
      int bytes = left.replace(" ", "").replace("-", "").length();
      assertThat(bytes <= mayBeLeft || (read.contains(Secrets.MARK) && bytes < 2))
          .as("%s cut at %s: %s", text, max, read)
          .isTrue();
    }
  }

  /** The longest beginning of the secret that is left where it began. */
  private static String longest(String read, String secret) {
    for (int length = secret.length(); length > 0; length--) {
      if (read.contains(secret.substring(0, length) + "…")
          || (length > 6 && read.contains(secret.substring(0, length)))) {
        return secret.substring(0, length);
      }
    }
    return "";
  }

  @Test
  void whereTheMarkHasNoRoomStarsStandForTheSecret() {
    assertThat(written("password=abc", 12)).isEqualTo("password=***");
    assertThat(written("password=abc", 18)).isEqualTo("password=***");
    assertThat(written("password=abc", 19)).isEqualTo("password=<redacted>");
    assertThat(written("a=1 token=ab token=cd", 21 + 8)).isEqualTo("a=1 token=<redacted> token=**");
    assertThat(written("password=abcdefghijklm", 19)).isEqualTo("password=*******…");
  }

  @Test
  void textMayBecomeLongerThanItsHeadHadRoomFor() {
    // 23 bytes have a head of one byte, 30 have one of two.
    String text = "0123456789 password=abc";
    assertThat(text).hasSize(23);
    assertThat(written(text)).isEqualTo("0123456789 password=<redacted>");
    String long255 = "-".repeat(255 - 13) + " password=abc";
    assertThat(written(long255)).isEqualTo("-".repeat(255 - 13) + " password=<redacted>");
    for (int room = 0; room < 60; room++) {
      out.reset(0, room);
      out.redactions(0);
      if (out.textCut(text, 100) != CborWriter.NONE) {
        assertThat(out.position()).isLessThanOrEqualTo(room);
        assertThat((String) CborJudge.read(out)).doesNotContain("abc");
      }
    }
  }

  @Test
  void everyGramIsInASlotOfItsOwn() {
    List<Integer> there = new ArrayList<>();
    for (int slot = 0; slot < SecretText.GRAMS.length; slot++) {
      int gram = SecretText.GRAMS[slot];
      if (gram != 0) {
        assertThat(SecretText.slot(gram)).isEqualTo(slot);
        there.add(gram);
      }
    }
    assertThat(there).hasSize(SecretText.GRAM_COUNT).doesNotHaveDuplicates();
  }

  @Test
  void scanOverlooksNothingThatIsFoundWithoutIt() {
    long seed = Long.getLong("cairn.seed", System.nanoTime());
    System.out.println("SecretTextTest: -Dcairn.seed=" + seed);
    Random random = new Random(seed);
    int found = 0;
    for (int i = 0; i < 60_000; i++) {
      byte[] text = mixed(random).getBytes(StandardCharsets.UTF_8);
      if (text.length < SecretText.LEAST_BYTES) {
        continue;
      }
      int from = random.nextInt(9);
      byte[] b = new byte[from + text.length + 12];
      System.arraycopy(text, 0, b, from, text.length);
      int to = from + text.length;
      ByteBuffer words = ByteBuffer.wrap(b).order(ByteOrder.LITTLE_ENDIAN);
      int kinds = SecretText.scan(b, words, from, to);
      byte[] all = b.clone();
      long done = SecretText.redact(all, from, to, ALL_KINDS, b.length, false);
      assertThat(SecretText.redact(b, from, to, kinds, b.length, false))
          .as("seed=%s, text=%s", seed, new String(text, StandardCharsets.UTF_8))
          .isEqualTo(done);
      assertThat(b).isEqualTo(all);
      found += done >>> 32 != 0 ? 1 : 0;
    }
    assertThat(found).isBetween(15_000, 55_000);
  }

  /** Pieces of secrets, of what is nearly one, and of anything, joined by anything. */
  private static String mixed(Random random) {
    StringBuilder text = new StringBuilder();
    int start = random.nextInt(21);
    for (int i = 0; i < start; i++) {
      text.append(
          (char) (random.nextInt(8) == 0 ? random.nextInt(0x300) : 32 + random.nextInt(95)));
    }
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      String piece =
          random.nextInt(4) == 0
              ? HARMLESS[random.nextInt(HARMLESS.length)]
              : plain(SECRET[random.nextInt(SECRET.length)]);
      int kind = random.nextInt(4);
      if (kind == 0 && !piece.isEmpty()) {
        piece = piece.substring(random.nextInt(piece.length()));
      } else if (kind == 1) {
        piece =
            random.nextBoolean() ? piece.toUpperCase(Locale.ROOT) : piece.toLowerCase(Locale.ROOT);
      }
      text.append(piece);
      text.append(" =:\"'\\>_-&;,<|[]\n\t$#%!+~}^`é水".charAt(random.nextInt(28)));
    }
    return text.toString();
  }

  @Test
  void randomBytesNeitherThrowNorLeaveTheirRange() {
    Random random = new Random(17);
    for (int i = 0; i < 100_000; i++) {
      byte[] b = new byte[8 + random.nextInt(60)];
      for (int k = 0; k < b.length; k++) {
        b[k] =
            (byte)
                switch (random.nextInt(4)) {
                  case 0 -> "=: \"'\\<>[]@/.-_".charAt(random.nextInt(15));
                  case 1 -> '0' + random.nextInt(10);
                  default -> random.nextInt(256);
                };
      }
      String name = new String[] {"token", "secret", "bearer ", "://", "eyJ", "4111"}[i % 6];
      int at = random.nextInt(b.length - 7);
      for (int k = 0; k < name.length(); k++) {
        b[at + k] = (byte) name.charAt(k);
      }
      int from = random.nextInt(3);
      int to = b.length - random.nextInt(3);
      byte[] before = b.clone();
      int room = Math.min(b.length, to + random.nextInt(3));
      long done = SecretText.redact(b, from, to, ALL_KINDS, room, (i & 1) == 0);
      assertThat((int) done).isBetween(from, b.length);
      assertThat(Arrays.copyOf(b, from)).isEqualTo(Arrays.copyOf(before, from));
    }
  }
}
