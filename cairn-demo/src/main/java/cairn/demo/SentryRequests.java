package cairn.demo;

import cairn.Recorder;
import cairn.sentry.CairnIntegration;
import io.sentry.Breadcrumb;
import io.sentry.ISentryLifecycleToken;
import io.sentry.ITransaction;
import io.sentry.Sentry;
import io.sentry.SpanStatus;
import io.sentry.TransactionOptions;
import io.sentry.protocol.User;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerMapping;

/**
 * sentry-java as an application uses it, without Sentry's Spring starter: a transaction, a user, a
 * tag and breadcrumbs for each request. {@code shop.sentry} is the DSN; without it nothing of this
 * is there, nor is a class of Sentry's loaded.
 *
 * <p>Cairn's integration records into the shop's recorder or, if {@code shop.recorder} turns that
 * off, opens its own: then Sentry's calls are all that the box knows.
 */
@Component
@ConditionalOnProperty(SentryRequests.PROPERTY)
@Order(Ordered.HIGHEST_PRECEDENCE + 15) // Inside of RecordedRequests, which looks up the route.
class SentryRequests extends OncePerRequestFilter {
  static final String PROPERTY = "shop.sentry";

  SentryRequests(Recorder recorder, @Value("${" + PROPERTY + "}") String dsn) {
    Sentry.init(
        options -> {
          options.setDsn(dsn);
          options.setRelease("cairn-demo@1.4.2");
          options.setEnvironment("demo");
          // Transactions are there, and name what is under way; none is sent.
          options.setTracesSampleRate(0.0);
          options.addIntegration(
              recorder.isEnabled() ? new CairnIntegration(recorder) : new CairnIntegration());
        });
  }

  @Override
  @SuppressWarnings("try") // Of the scope only the end matters.
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    String method = request.getMethod();
    String path = request.getRequestURI();
    Object route = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
    String name = method + " " + (route == null ? "unmatched" : route);
    try (ISentryLifecycleToken ignored = Sentry.pushIsolationScope()) {
      TransactionOptions bound = new TransactionOptions();
      bound.setBindToScope(true);
      ITransaction transaction = Sentry.startTransaction(name, "http.server", bound);
      Sentry.setUser(user(request.getHeader("X-User")));
      Sentry.setTag("kind", method.equals("GET") ? "browsing" : "buying");
      Sentry.addBreadcrumb(Breadcrumb.http(path, method));
      int status = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
      try {
        chain.doFilter(request, response);
        status = response.getStatus();
      } finally {
        Sentry.addBreadcrumb(Breadcrumb.http(path, method, status));
        transaction.finish(SpanStatus.fromHttpStatusCode(status));
      }
    }
  }

  private static User user(String id) {
    User user = new User();
    user.setId(id == null ? "anonymous" : id);
    return user;
  }

  /** Sends what is still to be sent; ends the run in order if its recorder is Sentry's alone. */
  @Override
  public void destroy() {
    Sentry.close();
  }
}
