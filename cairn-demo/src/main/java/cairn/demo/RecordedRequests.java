package cairn.demo;

import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ContentCachingResponseWrapper;
import org.springframework.web.util.ServletRequestPathUtils;

/** Keeps an open span for each request, and leaves a breadcrumb when its answer is ready. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 10)
class RecordedRequests extends OncePerRequestFilter {
  /** Request attribute that holds the span, for who knows more about the request. */
  static final String SPAN = "cairn.span";

  /*
   * After a death, each request that had begun shows in the report, whenever the process died:
   *
   *         1 span begins          4 answer is ready, in memory     6 answer goes to the socket
   *         2 request id is set    5 breadcrumb                     7 span ends
   *
   *   died in       answer received   open span   breadcrumb
   *   2 to 5        no                yes         no
   *   5 to 6        no                yes         yes
   *   6 to 7        maybe             yes         yes
   *   after 7       yes               no          yes
   *
   * So an answer that was received has its breadcrumb, and a request without an answer has its
   * span. ("After 7" and not received: the answer was in the socket, and was lost behind it.)
   *
   * What this needs: no byte of the answer leaves before 5. The wrapper holds the body back, and
   * Problems makes the body of every error, because the container would write that of sendError
   * after 7. An Error that no handler takes still goes that way: 500, breadcrumb, span ended, and
   * only then the container's page.
   */

  private final Recorder recorder;
  private final Witness witness;
  private final RequestMappingHandlerMapping routes;

  RecordedRequests(
      Recorder recorder,
      Witness witness,
      @Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping routes) {
    this.recorder = recorder;
    this.witness = witness;
    this.routes = routes;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    String id = header(request, "X-Request-Id", UUID.randomUUID().toString());
    String route = route(request);
    String name = request.getMethod() + " " + route;
    long began = System.nanoTime();
    witness.arrived(id);
    try (OpenSpan span = recorder.begin(name)) {
      span.set("request.id", id)
          .set("method", request.getMethod())
          .set("route", route)
          .set("user", header(request, "X-User", "anonymous"));
      witness.begun(id);

      request.setAttribute(SPAN, span);
      ContentCachingResponseWrapper answer = new ContentCachingResponseWrapper(response);
      int status = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
      try {
        chain.doFilter(request, answer);
        status = answer.getStatus();
      } finally {
        long millis = (System.nanoTime() - began) / 1_000_000;
        recorder.breadcrumb(
            status < 500 ? Level.INFO : Level.ERROR,
            "http",
            name + " -> " + status,
            Map.of("request.id", id, "status", status, "millis", millis));
      }
      answer.copyBodyToResponse();
      response.flushBuffer();
    }
    witness.ended(id);
  }

  /** The pattern and not the path: few names, and no personal data in them. */
  private String route(HttpServletRequest request) {
    try {
      ServletRequestPathUtils.parseAndCache(request);
      routes.getHandler(request);
    } catch (Exception e) {
      logger.debug("no route: " + e.getMessage()); // Such as a wrong method: MVC answers it.
    }
    Object route = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
    return route == null ? "unmatched" : route.toString();
  }

  private static String header(HttpServletRequest request, String name, String otherwise) {
    String value = request.getHeader(name);
    return value == null ? otherwise : value;
  }
}
