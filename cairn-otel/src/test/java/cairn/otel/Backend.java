package cairn.otel;

import com.google.protobuf.InvalidProtocolBufferException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;

/** Takes what an OTLP exporter sends, on the loopback interface. */
final class Backend implements AutoCloseable {
  private final HttpServer server;
  final List<ExportTraceServiceRequest> traces = new CopyOnWriteArrayList<>();
  final List<ExportLogsServiceRequest> logs = new CopyOnWriteArrayList<>();

  /** What it answers to log records. */
  volatile int logStatus = 200;

  Backend() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext(
        "/v1/traces",
        exchange ->
            answer(exchange, 200, bytes -> traces.add(ExportTraceServiceRequest.parseFrom(bytes))));
    server.createContext(
        "/v1/logs",
        exchange ->
            answer(
                exchange, logStatus, bytes -> logs.add(ExportLogsServiceRequest.parseFrom(bytes))));
    server.start();
  }

  private interface Request {
    void take(byte[] bytes) throws InvalidProtocolBufferException;
  }

  private static void answer(HttpExchange exchange, int status, Request request)
      throws IOException {
    boolean isZipped = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
    try (exchange;
        InputStream body = exchange.getRequestBody();
        InputStream plain = isZipped ? new GZIPInputStream(body) : body) {
      request.take(plain.readAllBytes());
      exchange.sendResponseHeaders(status, -1);
    }
  }

  String endpoint(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
