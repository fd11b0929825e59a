package cairn.demo;

import cairn.Recorder;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/**
 * Stands between the shop and the socket, and reads what a death would leave: when the first byte
 * of an answer passes, and when the request is over.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class LeavingAnswers implements Filter {
  /** By request id. */
  static final Map<String, Seen> whenAnswerLeft = new ConcurrentHashMap<>();

  /** By request id. */
  static final Map<String, Seen> whenOver = new ConcurrentHashMap<>();

  private final Recorder recorder;

  record Seen(long breadcrumbs, UnfinishedSpan span) {}

  LeavingAnswers(Recorder recorder) {
    this.recorder = recorder;
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    String id = ((HttpServletRequest) request).getHeader("X-Request-Id");
    chain.doFilter(
        request,
        new HttpServletResponseWrapper((HttpServletResponse) response) {
          @Override
          public ServletOutputStream getOutputStream() throws IOException {
            return watched(id, super.getOutputStream());
          }

          @Override
          public void flushBuffer() throws IOException {
            look(id, whenAnswerLeft);
            super.flushBuffer();
          }

          @Override
          public void sendError(int status) throws IOException {
            sendError(status, "");
          }

          @Override
          public void sendError(int status, String message) {
            throw new AssertionError("the container would write the body: status=" + status);
          }
        });
    look(id, whenOver);
  }

  private ServletOutputStream watched(String id, ServletOutputStream out) {
    return new ServletOutputStream() {
      @Override
      public void write(int b) throws IOException {
        look(id, whenAnswerLeft);
        out.write(b);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        look(id, whenAnswerLeft);
        out.write(bytes, offset, length);
      }

      @Override
      public void flush() throws IOException {
        look(id, whenAnswerLeft);
        out.flush();
      }

      @Override
      public boolean isReady() {
        return out.isReady();
      }

      @Override
      public void setWriteListener(WriteListener listener) {
        out.setWriteListener(listener);
      }
    };
  }

  /** The first look counts. */
  private void look(String id, Map<String, Seen> seen) throws IOException {
    if (seen.containsKey(id)) {
      return;
    }
    Path root = Objects.requireNonNull(recorder.directory()).getParent().getParent();
    Report report = Runs.under(root).find(recorder.runId()).orElseThrow().report();
    long breadcrumbs = report.trail().stream().filter(b -> isAnswer(b, id)).count();
    UnfinishedSpan span =
        report.openSpans().stream()
            .filter(open -> id.equals(open.attributes().get("request.id")))
            .findFirst()
            .orElse(null);
    seen.put(id, new Seen(breadcrumbs, span));
  }

  private static boolean isAnswer(Breadcrumb breadcrumb, String id) {
    return "http".equals(breadcrumb.category()) && id.equals(breadcrumb.data().get("request.id"));
  }
}
