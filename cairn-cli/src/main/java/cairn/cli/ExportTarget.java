package cairn.cli;

import cairn.otel.OtlpFile;
import cairn.otel.OtlpJson;
import cairn.report.Report;
import cairn.report.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Where {@code cairn export} takes runs to. */
interface ExportTarget {
  /** Whether {@code --all-dead} takes a run there. */
  enum Due {
    NOW,
    /** It was refused, and is not to be tried again yet, or ever. */
    NOT_YET,
    /** It has been taken. */
    DONE
  }

  /**
   * Takes a run there.
   *
   * @return what it was, as {@code key=value}s for a message
   * @throws IOException unless all of it has arrived
   */
  String take(Run run, Report report) throws IOException;

  /** {@return what it is called in messages and marks} */
  String name();

  /** {@return whether a run of that report is anything there} */
  default boolean wants(Report report) {
    return true;
  }

  /** {@return whether {@code --all-dead} takes that run there} */
  default Due due(Run run) {
    return new ExportMark(run).isSet() ? Due.DONE : Due.NOW;
  }

  /**
   * Marks a run as taken.
   *
   * @throws IOException if that cannot be written
   */
  default void mark(Run run, Instant at) throws IOException {
    new ExportMark(run).set(at, name());
  }

  /** {@return whether nothing more is taken for now, so that it is of no use to try} */
  default boolean isClosed() {
    return false;
  }

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

  /** {@return what a message says of it} */
  static String told(OtlpJson telemetry) {
    return "spans=" + telemetry.spans() + ", logs=" + telemetry.logs();
  }

  /** One file, which is appended to. */
  record AppendedFile(Path file) implements ExportTarget {
    @Override
    public String take(Run run, Report report) throws IOException {
      OtlpJson telemetry = OtlpJson.of(report);
      OtlpFile.append(file, telemetry);
      return told(telemetry);
    }

    @Override
    public String name() {
      return file.toString();
    }
  }

  /** A directory that gets files. */
  record Directory(Path directory) implements ExportTarget {
    @Override
    public String take(Run run, Report report) throws IOException {
      OtlpJson telemetry = OtlpJson.of(report);
      Path above = directory.toAbsolutePath().normalize().getParent();
      if (above != null && !Files.isDirectory(above)) {
        throw new IOException(
            "no such directory: dir=" + above + " (make it, or correct the path)");
      }
      OtlpFile.create(directory, telemetry);
      return told(telemetry);
    }

    @Override
    public String name() {
      return directory.toString();
    }
  }

  /** The output. */
  record StandardOutput(Session session) implements ExportTarget {
    @Override
    public String take(Run run, Report report) throws IOException {
      OtlpJson telemetry = OtlpJson.of(report);
      List<byte[]> requests = new ArrayList<>(telemetry.traceRequests());
      requests.addAll(telemetry.logRequests());
      for (byte[] request : requests) {
        session.out.write(request, 0, request.length);
        session.out.write('\n');
      }
      if (!session.flush()) {
        throw new IOException("nobody takes what is written");
      }
      return told(telemetry);
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
