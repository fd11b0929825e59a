package cairn.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * One HTTP/1.1 connection to a port of this machine, kept open. As little of it as the shop needs,
 * so that who makes the load has cycles left. One thread.
 */
final class HttpWire implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 10_000;

  private final Socket socket = new Socket();
  private final InputStream in;
  private final OutputStream out;
  private final byte[] buffer = new byte[64 << 10];
  private int status;

  HttpWire(int port) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
    in = socket.getInputStream();
    out = socket.getOutputStream();
  }

  /** {@return the status of the last answer} */
  int status() {
    return status;
  }

  /**
   * Sends a request and awaits all of its answer.
   *
   * @param head the request line and headers, each with its line end
   * @param body empty for none
   * @return the body of the answer
   */
  String exchange(String head, String body) throws IOException {
    StringBuilder request = new StringBuilder(head).append("Host: 127.0.0.1\r\n");
    if (!body.isEmpty()) {
      request.append("Content-Type: application/json\r\nContent-Length: ").append(body.length());
      request.append("\r\n");
    } else if (head.startsWith("POST")) {
      request.append("Content-Length: 0\r\n");
    }
    request.append("\r\n").append(body);
    out.write(request.toString().getBytes(StandardCharsets.ISO_8859_1));
    return answer();
  }

  private String answer() throws IOException {
    int filled = 0;
    int bodyStart = -1;
    while (bodyStart < 0) {
      filled += read(filled);
      bodyStart = endOfHead(filled);
    }
    String head = new String(buffer, 0, bodyStart, StandardCharsets.ISO_8859_1);
    status = Integer.parseInt(head.substring(9, 12));
    int length = contentLength(head);
    if (bodyStart + length > buffer.length) {
      throw new IOException("answer is too long: length=" + length + ", limit=" + buffer.length);
    }
    while (filled < bodyStart + length) {
      filled += read(filled);
    }
    return new String(buffer, bodyStart, length, StandardCharsets.UTF_8);
  }

  private int read(int filled) throws IOException {
    int count = in.read(buffer, filled, buffer.length - filled);
    if (count <= 0) {
      throw new EOFException("connection ended within an answer: bytes=" + filled);
    }
    return count;
  }

  /** {@return the index after the empty line; -1 if it has not come yet} */
  private int endOfHead(int filled) {
    for (int i = 3; i < filled; i++) {
      if (buffer[i] == '\n' && buffer[i - 1] == '\r' && buffer[i - 2] == '\n') {
        return i + 1;
      }
    }
    return -1;
  }

  private static int contentLength(String head) throws IOException {
    String lower = head.toLowerCase(Locale.ROOT);
    int at = lower.indexOf("\r\ncontent-length:");
    if (at < 0) {
      throw new IOException("answer has no length: head=" + head.lines().findFirst().orElse(""));
    }
    int start = at + "\r\ncontent-length:".length();
    return Integer.parseInt(head.substring(start, head.indexOf('\r', start)).strip());
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
