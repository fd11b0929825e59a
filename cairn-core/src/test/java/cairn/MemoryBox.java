package cairn;

import cairn.report.Report;
import cairn.report.ReportOfBytes;
import java.nio.ByteBuffer;
import java.util.function.Function;

/** A box in memory, written by the real writers and read by the real report. */
final class MemoryBox {
  static final long NONCE = 0x0123456789ABCDEFL;

  final FakeClock clock = new FakeClock();
  final ByteBuffer buffer;
  final Region region;
  final Box box;

  MemoryBox(int spanSlots, int trailBytes) {
    this(spanSlots, trailBytes, Region::new);
  }

  MemoryBox(int spanSlots, int trailBytes, Function<ByteBuffer, Region> regions) {
    BoxPlan plan = new BoxPlan(NONCE, spanSlots, trailBytes);
    buffer = ByteBuffer.allocateDirect(plan.size);
    region = regions.apply(buffer);
    box = new Box(region, plan, NONCE, clock);
    byte[] identity = new byte[box.identityLimit()];
    Recorder.Builder builder = Recorder.builder("memory");
    int length =
        Identity.encode(
            identity, identity.length, builder, "20231114-221320-000-1-01234567", 1, true, clock);
    box.start(identity, length);
  }

  byte[] image() {
    byte[] bytes = new byte[buffer.capacity()];
    buffer.get(0, bytes);
    return bytes;
  }

  Report report() {
    return ReportOfBytes.read(image());
  }
}
