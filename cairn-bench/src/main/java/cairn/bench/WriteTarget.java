package cairn.bench;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** One system call an event, into the page cache. One thread. */
final class WriteTarget implements Target {
  private final Path file;
  private final FileChannel channel;
  private final JsonLine line = new JsonLine();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(8192);

  WriteTarget(Path directory) throws IOException {
    file = directory.resolve("bench.jsonl");
    channel = FileChannel.open(file, CREATE_NEW, WRITE);
  }

  @Override
  public void record(int index) throws IOException {
    int length = line.encode(Payload.SMALL[index], System.currentTimeMillis());
    buffer.clear().put(line.bytes(), 0, length).flip();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  @Override
  public void finish(long calls) throws IOException {
    channel.close();
    Evidence.require(Files.size(file) >= calls * 200, "bytes", Files.size(file), calls * 200);
  }
}
