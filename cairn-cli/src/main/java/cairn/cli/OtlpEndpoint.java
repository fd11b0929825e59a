package cairn.cli;

import cairn.otel.OtlpJson;
import cairn.report.Report;
import cairn.report.Run;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A receiver of OTLP over HTTP, in JSON.
 *
 * <p>Taken is what was answered with 2xx. What the protocol calls retryable, and a connection that
 * fails, is tried four times within some 10 s or as long as the receiver asks, at most 10 s each
 * time. Redirects are not followed. Headers and what an URL holds besides its place are never
 * shown.
 */
final class OtlpEndpoint implements ExportTarget {
  private static final int ATTEMPTS = 4;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
  private static final int ANSWER_BYTES = 16 * 1024;
  private static final Pattern REJECTED =
      Pattern.compile("\"rejected(?:Spans|LogRecords)\"\\s*:\\s*\"?([1-9][0-9]*)");

  private final URI base;
  private final Map<String, String> headers;
  private final Session session;
  private final HttpClient client =
      HttpClient.newBuilder()
          .connectTimeout(TIMEOUT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();

  private OtlpEndpoint(URI base, Map<String, String> headers, Session session) {
    this.base = base;
    this.headers = headers;
    this.session = session;
  }

  /**
   * {@return the receiver there}
   *
   * @param text its URL, without {@code /v1/traces}
   * @param given headers of the command line, as {@code NAME=VALUE}
   */
  static OtlpEndpoint of(String text, List<String> given, Session session) {
    URI base;
    try {
      base = new URI(text);
    } catch (URISyntaxException e) {
      throw invalid("not a URL");
    }
    String scheme = base.getScheme();
    boolean isHttp = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!isHttp || base.getHost() == null) {
      throw invalid("neither http:// nor https:// with a host");
    }
    if (base.getUserInfo() != null || base.getQuery() != null || base.getFragment() != null) {
      throw invalid("it has a user, a query or a fragment");
    }
    String path = String.valueOf(base.getPath());
    if (path.endsWith("/v1/traces") || path.endsWith("/v1/logs")) {
      throw invalid("it names one signal");
    }
    Map<String, String> headers = new LinkedHashMap<>();
    String standard = session.surroundings.variables().get("OTEL_EXPORTER_OTLP_HEADERS");
    if (standard != null) {
      for (String header : standard.split(",", -1)) {
        if (!header.isBlank()) {
          add(headers, header, "OTEL_EXPORTER_OTLP_HEADERS", true);
        }
      }
    }
    given.forEach(header -> add(headers, header, "--header", false));
    return new OtlpEndpoint(base, headers, session);
  }

  // Says nothing of the value: it may hold a secret.
  private static CliException invalid(String why) {
    return CliException.usage(
        "invalid URL: option=--otlp-endpoint, error="
            + why
            + " (give one such as http://127.0.0.1:4318; /v1/traces and /v1/logs are added)");
  }

  private static void add(
      Map<String, String> headers, String header, String source, boolean isEncoded) {
    int equals = header.indexOf('=');
    String name = equals < 0 ? "" : header.substring(0, equals).strip();
    String value = header.substring(equals + 1).strip();
    try {
      String plain = isEncoded ? decoded(value) : value;
      HttpRequest.newBuilder().header(name, plain); // refuses what is no header
      headers.put(name, plain);
    } catch (IllegalArgumentException e) {
      throw CliException.usage(
          "invalid header: option=" + source + ", name=" + name + " (give NAME=VALUE)");
    }
  }

  /** {@return the value} As in W3C Baggage: percent-encoded, a plus is a plus. */
  private static String decoded(String value) {
    return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  @Override
  public String name() {
    return base.toString();
  }

  @Override
  public boolean isOutput() {
    return false;
  }

  @Override
  public String take(Run run, Report report) throws IOException {
    OtlpJson telemetry = OtlpJson.of(report);
    for (byte[] request : telemetry.traceRequests()) {
      post("/v1/traces", request);
    }
    for (byte[] request : telemetry.logRequests()) {
      post("/v1/logs", request);
    }
    return ExportTarget.told(telemetry);
  }

  /** What the receiver said. */
  private record Answer(int status, @Nullable Duration retryAfter, String text) {
    boolean isTaken() {
      return status / 100 == 2;
    }

    /** {@return whether the protocol says that it may be tried again} */
    boolean isRetryable() {
      return status == 429 || status == 502 || status == 503 || status == 504;
    }
  }

  private void post(String signal, byte[] body) throws IOException {
    String path = String.valueOf(base.getPath());
    String above = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    URI uri = base.resolve(above + signal);
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(uri)
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(builder::setHeader);
    HttpRequest request = builder.build();
    Duration pause = FIRST_PAUSE;
    for (int attempt = 1; ; attempt++) {
      Duration asked = null;
      IOException failure;
      try {
        Answer answer = send(request);
        if (answer.isTaken()) {
          sayRejected(uri, answer.text);
          return;
        }
        failure = new IOException("endpoint refused: url=" + uri + ", status=" + answer.status);
        if (!answer.isRetryable()) {
          attempt = ATTEMPTS;
        }
        asked = answer.retryAfter;
      } catch (IOException e) {
        failure =
            new IOException(
                "endpoint not reached: url=" + uri + ", error=" + RunSource.describe(e), e);
      }
      if (attempt == ATTEMPTS) {
        throw failure;
      }
      await(asked == null ? pause : asked, uri);
      pause = pause.multipliedBy(3);
    }
  }

  private Answer send(HttpRequest request) throws IOException {
    try {
      HttpResponse<InputStream> response =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        String text = new String(body.readNBytes(ANSWER_BYTES), StandardCharsets.UTF_8);
        return new Answer(response.statusCode(), retryAfter(response), text);
      }
    } catch (InterruptedException e) {
      throw interrupted(request.uri());
    }
  }

  private static @Nullable Duration retryAfter(HttpResponse<?> response) {
    String text = response.headers().firstValue("Retry-After").orElse("");
    // A date is not worth a parser: then the pause is as without.
    if (text.isEmpty() || text.length() > 9 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return null;
    }
    Duration asked = Duration.ofSeconds(Long.parseLong(text));
    return asked.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : asked;
  }

  private void await(Duration pause, URI uri) throws IOException {
    try {
      session.surroundings.pause().await(pause);
    } catch (InterruptedException e) {
      throw interrupted(uri);
    }
  }

  private static IOException interrupted(URI uri) {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted: url=" + uri);
  }

  /** Says that some were refused for good; the protocol forbids to send them again. */
  private void sayRejected(URI uri, String answer) {
    Matcher matcher = REJECTED.matcher(answer);
    if (matcher.find()) {
      session.error(
          "endpoint took not all: url="
              + uri
              + ", rejected="
              + matcher.group(1)
              + " (its own log says why; they are not sent again)");
    }
  }
}
