package cairn.cli;

import cairn.otel.OtlpFile;
import cairn.otel.OtlpJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Where {@code cairn export} takes runs to. */
interface ExportTarget {
  /**
   * Takes a run there.
   *
   * @throws IOException unless all of it has arrived
   */
  void take(OtlpJson telemetry) throws IOException;

  /** {@return what it is called in messages and marks} */
  String name();

  /** {@return whether this is only a look, which counts as no delivery of a run that was named} */
  default boolean isLook() {
    return false;
  }

  /**
   * {@return whether it is written to here, so that a failure is one of the output, not of a run}
   */
  default boolean isOutput() {
    return true;
  }

  /** One file, which is appended to. */
  record AppendedFile(Path file) implements ExportTarget {
    @Override
    public void take(OtlpJson telemetry) throws IOException {
      OtlpFile.append(file, telemetry);
    }

    @Override
    public String name() {
      return file.toString();
    }
  }

  /** A directory that gets files. */
  record Directory(Path directory) implements ExportTarget {
    @Override
    public void take(OtlpJson telemetry) throws IOException {
      Path above = directory.toAbsolutePath().normalize().getParent();
      if (above != null && !Files.isDirectory(above)) {
        throw new IOException(
            "no such directory: dir=" + above + " (make it, or correct the path)");
      }
      OtlpFile.create(directory, telemetry);
    }

    @Override
    public String name() {
      return directory.toString();
    }
  }

  /** The output. */
  record StandardOutput(Session session) implements ExportTarget {
    @Override
    public void take(OtlpJson telemetry) throws IOException {
      List<byte[]> requests = new ArrayList<>(telemetry.traceRequests());
      requests.addAll(telemetry.logRequests());
      for (byte[] request : requests) {
        session.out.write(request, 0, request.length);
        session.out.write('\n');
      }
      if (!session.flush()) {
        throw new IOException("nobody takes what is written");
      }
    }

    @Override
    public String name() {
      return "-";
    }

    @Override
    public boolean isLook() {
      return true;
    }
  }
}
