package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class HttpWireTest {

  @Test
  void answersOfOneConnectionAreToldApart() throws Exception {
    try (Fake fake =
            new Fake(
                "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nfirst",
                "HTTP/1.1 404 \r\ncontent-length:6\r\n\r\nsecond");
        HttpWire wire = new HttpWire(fake.port())) {
      assertThat(wire.exchange("GET /a HTTP/1.1\r\n", "")).isEqualTo("first");
      assertThat(wire.status()).isEqualTo(200);
      assertThat(wire.exchange("GET /b HTTP/1.1\r\n", "")).isEqualTo("second");
      assertThat(wire.status()).isEqualTo(404);
    }
  }

  @Test
  void answerThatComesInPiecesIsPutTogether() throws Exception {
    try (Fake fake = new Fake("HTTP/1.1 200 \r\nContent-Le|ngth: 8\r\n\r|\nin|pieces");
        HttpWire wire = new HttpWire(fake.port())) {
      assertThat(wire.exchange("GET /a HTTP/1.1\r\n", "")).isEqualTo("inpieces");
    }
  }

  @Test
  void bodyIsSentWithItsLength() throws Exception {
    try (Fake fake = new Fake("HTTP/1.1 201 \r\nContent-Length: 0\r\n\r\n");
        HttpWire wire = new HttpWire(fake.port())) {
      wire.exchange("POST /cart HTTP/1.1\r\n", "{\"a\":1}");

      assertThat(fake.asked.get())
          .contains("\r\nContent-Length: 7\r\n")
          .endsWith("\r\n\r\n{\"a\":1}");
    }
  }

  @Test
  void connectionThatEndsWithinAnAnswerIsAnError() throws Exception {
    try (Fake fake = new Fake("HTTP/1.1 200 \r\nContent-Length: 9\r\n\r\ncut");
        HttpWire wire = new HttpWire(fake.port())) {
      assertThatThrownBy(() -> wire.exchange("GET /a HTTP/1.1\r\n", ""))
          .isInstanceOf(EOFException.class);
    }
  }

  @Test
  void answerWithoutALengthIsAnError() throws Exception {
    try (Fake fake = new Fake("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n");
        HttpWire wire = new HttpWire(fake.port())) {
      assertThatThrownBy(() -> wire.exchange("GET /a HTTP/1.1\r\n", ""))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("no length");
    }
  }

  /** Gives one prepared answer to each request, a piece at a time, and hangs up. */
  private static final class Fake implements AutoCloseable {
    final CompletableFuture<String> asked = new CompletableFuture<>();
    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

    Fake(String... answers) throws IOException {
      Thread thread =
          new Thread(
              () -> {
                try (Socket socket = server.accept()) {
                  socket.setTcpNoDelay(true);
                  for (String answer : answers) {
                    asked.complete(request(socket.getInputStream()));
                    for (String piece : answer.split("\\|")) {
                      socket.getOutputStream().write(piece.getBytes(StandardCharsets.US_ASCII));
                    }
                  }
                } catch (IOException e) {
                  asked.completeExceptionally(e);
                }
              },
              "fake");
      thread.setDaemon(true);
      thread.start();
    }

    private static String request(InputStream in) throws IOException {
      StringBuilder request = new StringBuilder();
      int bodyStart = -1;
      int length = 0;
      while (bodyStart < 0 || request.length() < bodyStart + length) {
        int next = in.read();
        if (next < 0) {
          break;
        }
        request.append((char) next);
        if (bodyStart < 0 && request.indexOf("\r\n\r\n") >= 0) {
          bodyStart = request.length();
          int at = request.indexOf("Content-Length: ");
          length =
              at < 0 ? 0 : Integer.parseInt(request.substring(at + 16, request.indexOf("\r", at)));
        }
      }
      return request.toString();
    }

    int port() {
      return server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }
}
