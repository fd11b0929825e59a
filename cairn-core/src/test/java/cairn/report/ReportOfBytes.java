package cairn.report;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Reads a box from memory, as that of a dead run. */
public final class ReportOfBytes {
  private ReportOfBytes() {}

  public static Report read(byte[] box) {
    try {
      return readOrThrow(box);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static Report readOrThrow(byte[] box) throws IOException {
    Salvage salvage = new Salvage(box, "memory", false);
    return new Judge(salvage, Liveness.DEAD, new LocalHost()).report("memory", "memory");
  }
}
