package cairn.demo;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerMapping;

/** A server span for each request, with the attributes that an agent gives it. */
@Component
@ConditionalOnProperty(Tracing.PROPERTY)
@Order(Ordered.HIGHEST_PRECEDENCE + 5)
class TracedRequests extends OncePerRequestFilter {
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
  private static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");
  private static final AttributeKey<String> HOST = AttributeKey.stringKey("server.address");
  private static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
  private static final AttributeKey<String> CLIENT = AttributeKey.stringKey("client.address");
  private static final AttributeKey<String> VERSION =
      AttributeKey.stringKey("network.protocol.version");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  private final Tracer tracer;

  TracedRequests(Tracer tracer) {
    this.tracer = tracer;
  }

  @Override
  @SuppressWarnings("try") // Of the scope only the end matters.
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    Span span =
        tracer
            .spanBuilder(request.getMethod())
            .setSpanKind(SpanKind.SERVER)
            .setAttribute(METHOD, request.getMethod())
            .setAttribute(PATH, request.getRequestURI())
            .setAttribute(SCHEME, request.getScheme())
            .setAttribute(HOST, request.getServerName())
            .setAttribute(PORT, (long) request.getServerPort())
            .setAttribute(CLIENT, request.getRemoteAddr())
            .setAttribute(VERSION, request.getProtocol())
            .startSpan();
    try (Scope ignored = span.makeCurrent()) {
      chain.doFilter(request, response);
    } catch (ServletException | IOException | RuntimeException e) {
      span.recordException(e).setStatus(StatusCode.ERROR);
      throw e;
    } finally {
      // Only now is it known: RecordedRequests asks for it.
      if (request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE)
          instanceof String s) {
        span.setAttribute(ROUTE, s).updateName(request.getMethod() + " " + s);
      }
      int status = response.getStatus();
      span.setAttribute(STATUS, (long) status);
      if (status >= 500) {
        span.setAttribute(ERROR, Integer.toString(status)).setStatus(StatusCode.ERROR);
      }
      span.end();
    }
  }
}
