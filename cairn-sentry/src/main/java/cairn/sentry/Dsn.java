package cairn.sentry;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a project of Sentry takes envelopes, and the key it takes them with: {@code
 * {http|https}://KEY[:SECRET]@HOST[:PORT][/PATH]/PROJECT}. Immutable; any thread.
 *
 * <p>No message and no {@code toString} has the key or the secret.
 */
final class Dsn {
  /** What no key and no project has could end a header or a path. */
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_.~-]+");

  private static final Pattern SLASHES = Pattern.compile("/{2,}");
  private static final String EXAMPLE = " (give one such as https://KEY@sentry.example.com/42)";

  private final URI envelopes;
  private final String name;
  private final String key;
  private final @Nullable String secret;

  private Dsn(URI envelopes, String name, String key, @Nullable String secret) {
    this.envelopes = envelopes;
    this.name = name;
    this.key = key;
    this.secret = secret;
  }

  /**
   * {@return that DSN} A query and a fragment are of no meaning, as for Sentry's own libraries.
   *
   * @throws IllegalArgumentException if it is none; the message says why, and nothing of it
   */
  static Dsn of(String text) {
    URI uri;
    try {
      uri = new URI(text.strip());
    } catch (URISyntaxException e) {
      throw invalid("not a URL"); // its message has all of it
    }
    String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw invalid("neither http:// nor https://");
    }
    String host = uri.getHost();
    String user = uri.getRawUserInfo();
    if (user == null && !String.valueOf(uri.getRawAuthority()).contains("@")) {
      throw invalid("no key before the host");
    }
    if (host == null || user == null) {
      throw invalid("no valid host");
    }
    int port = uri.getPort();
    if (port > 65_535) {
      throw invalid("no valid port");
    }
    int colon = user.indexOf(':');
    String key = colon < 0 ? user : user.substring(0, colon);
    String secret = colon < 0 ? "" : user.substring(colon + 1);
    if (key.isEmpty()) {
      throw invalid("no key before the host");
    }
    if (!isWord(key) || !(secret.isEmpty() || isWord(secret))) {
      throw invalid("the key has characters that no key has");
    }
    String path = SLASHES.matcher(String.valueOf(uri.getRawPath())).replaceAll("/");
    if (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    int slash = path.lastIndexOf('/');
    String project = path.substring(slash + 1);
    String above = slash < 0 ? "" : path.substring(0, slash);
    if (project.isEmpty()) {
      throw invalid("no project behind the host");
    }
    if (!isWord(project)) {
      throw invalid("the project has characters that no project has");
    }
    String place = host + (port < 0 ? "" : ":" + port) + above;
    return new Dsn(
        URI.create(scheme + "://" + place + "/api/" + project + "/envelope/"),
        place + "/" + project,
        key,
        secret.isEmpty() ? null : secret);
  }

  private static boolean isWord(String text) {
    return WORD.matcher(text).matches();
  }

  private static IllegalArgumentException invalid(String why) {
    return new IllegalArgumentException("invalid DSN: error=" + why + EXAMPLE);
  }

  /** {@return where envelopes are posted} */
  URI envelopes() {
    return envelopes;
  }

  /** {@return host and project, for messages} */
  String name() {
    return name;
  }

  /** {@return the header X-Sentry-Auth} */
  String auth(String client) {
    return "Sentry sentry_version=7,sentry_client="
        + client
        + ",sentry_key="
        + key
        + (secret == null ? "" : ",sentry_secret=" + secret);
  }

  @Override
  public String toString() {
    return "Dsn{" + name + '}';
  }
}
