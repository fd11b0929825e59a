package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DsnTest {
  private static final String AUTH = "Sentry sentry_version=7,sentry_client=c/1,sentry_key=key";

  @ParameterizedTest
  @CsvSource({
    "https://key@host/1, https://host/api/1/envelope/, host/1",
    "http://key@localhost/1, http://localhost/api/1/envelope/, localhost/1",
    "HTTPS://key@host/1, https://host/api/1/envelope/, host/1",
    "https://key@host:9000/1, https://host:9000/api/1/envelope/, host:9000/1",
    "https://key@host:443/1, https://host:443/api/1/envelope/, host:443/1",
    "https://key@host/path/1, https://host/path/api/1/envelope/, host/path/1",
    "https://key@host:80/a/b/1, https://host:80/a/b/api/1/envelope/, host:80/a/b/1",
    "https://key@host/a%20b/1, https://host/a%20b/api/1/envelope/, host/a%20b/1",
    "https://key@host//1, https://host/api/1/envelope/, host/1",
    "https://key@host//a///b//1, https://host/a/b/api/1/envelope/, host/a/b/1",
    "https://key@host/1/, https://host/api/1/envelope/, host/1",
    "https://key@host/a/1//, https://host/a/api/1/envelope/, host/a/1",
    "https://key@host/1?a=b, https://host/api/1/envelope/, host/1",
    "https://key@host/1#f, https://host/api/1/envelope/, host/1",
    "https://key@host/a/1?a=b/c#f/g, https://host/a/api/1/envelope/, host/a/1",
    "https://key@127.0.0.1:8/1, https://127.0.0.1:8/api/1/envelope/, 127.0.0.1:8/1",
    "https://key@[::1]/1, https://[::1]/api/1/envelope/, [::1]/1",
    "https://key@[2001:db8::7]:8/a/1, https://[2001:db8::7]:8/a/api/1/envelope/, [2001:db8::7]:8/a/1",
    "'  https://key@host/1\n', https://host/api/1/envelope/, host/1",
    "https://key@host/name-of.project, https://host/api/name-of.project/envelope/, host/name-of.project",
    "https://key@o12.ingest.us.sentry.io/345, https://o12.ingest.us.sentry.io/api/345/envelope/,"
        + " o12.ingest.us.sentry.io/345",
    "https://key:@host/1, https://host/api/1/envelope/, host/1",
  })
  void dsnSaysWhereEnvelopesAreTaken(String text, String envelopes, String name) {
    Dsn dsn = Dsn.of(text);

    assertThat(dsn.envelopes()).hasToString(envelopes);
    assertThat(dsn.name()).isEqualTo(name);
    assertThat(dsn.auth("c/1")).isEqualTo(AUTH);
    assertThat(dsn.toString()).doesNotContain("key");
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://key:s3cr3t@host/1", "https://key:s3cr3t@host:8/a/1?x=y"})
  void secretIsInTheHeaderAndNowhereElse(String text) {
    Dsn dsn = Dsn.of(text);

    assertThat(dsn.auth("c/1")).isEqualTo(AUTH + ",sentry_secret=s3cr3t");
    assertThat(dsn + dsn.name() + dsn.envelopes()).doesNotContain("s3cr3t").doesNotContain("key");
  }

  @ParameterizedTest
  @CsvSource({
    "'', neither http",
    "' ', neither http",
    "k3y@host/1, neither http",
    "//k3y@host/1, neither http",
    "ftp://k3y@host/1, neither http",
    "https://host/1, no key",
    "https://@host/1, no key",
    "https://:s3cr3t@host/1, no key",
    "https://k3y@host, no project",
    "https://k3y@host/, no project",
    "https://k3y@host//, no project",
    "https://k3y@host?x=/1, no project",
    "https://k3y@/1, no valid host",
    "https://k3y@:9/1, no valid host",
    "https://k3y@ho_st/1, no valid host",
    "https://k3y@[::1/1, not a URL",
    "https://k3y@host:99999/1, no valid port",
    "https://k3y@host:nine/1, no valid host",
    "'https://k3y@host/1 2', not a URL",
    "'https://k3y s3cr3t@host/1', not a URL",
    "https://k3y%0d%0aX:s3cr3t@host/1, characters",
    "'https://k3y,sentry_version=1@host/1', characters",
    "https://k3y:s3cr3t%0a@host/1, characters",
    "https://k3y@host/a/1%2f2, characters",
  })
  void whatIsNoDsnIsRefusedWithoutShowingIt(String text, String why) {
    assertThatThrownBy(() -> Dsn.of(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("invalid DSN: error=")
        .hasMessageContaining(why)
        .message()
        .doesNotContain("k3y")
        .doesNotContain("s3cr3t");
  }
}
