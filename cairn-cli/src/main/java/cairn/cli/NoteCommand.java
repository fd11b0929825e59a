package cairn.cli;

import cairn.report.Run;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * {@code cairn note}. {@code bin/cairn} does the same without a JVM; this is for where there is
 * only the jar.
 */
final class NoteCommand implements Callable<Integer> {
  private final Session session;
  private final CommonOptions common;
  private final PositionalParamSpec what =
      PositionalParamSpec.builder()
          .index("0")
          .arity("1")
          .type(String.class)
          .paramLabel("WHAT")
          .description("oom: an OutOfMemoryError")
          .build();
  private final PositionalParamSpec pid =
      PositionalParamSpec.builder()
          .index("1")
          .arity("1")
          .type(Long.class)
          .paramLabel("PID")
          .description("of the JVM that noticed it")
          .build();

  NoteCommand(Session session) {
    this.session = session;
    this.common = new CommonOptions(session.surroundings, session.top);
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "note",
            this,
            new String[] {
              "Notes beside a living run what its JVM has just noticed: that the heap is full.",
              "",
              "For the option -XX:OnOutOfMemoryError=\"cairn note oom %%p\" of a JVM that records. With",
              "bin/cairn it takes a shell and no second JVM. The first note of a run stays."
            },
            new String[] {
              "Exit codes: 0 noted, or noted before; 2 wrong usage; 3 no living run of that process",
              "",
              "Examples:",
              "  cairn note oom 4711",
              "  java -XX:+ExitOnOutOfMemoryError -XX:OnOutOfMemoryError=\"cairn note oom %%p\" -jar app.jar"
            });
    spec.addPositional(what);
    spec.addPositional(pid);
    common.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    if (Options.text(what) == null || pid.getValue() == null) {
      throw CliException.usage(
          "missing argument: argument="
              + (Options.text(what) == null ? "WHAT" : "PID")
              + " (see: cairn note --help)");
    }
    if (!"oom".equals(Options.text(what))) {
      throw CliException.usage(
          "invalid value: argument=WHAT, value=" + Options.text(what) + " (expected oom)");
    }
    long process = pid.<Long>getValue();
    Path root = common.root();
    for (Run run : RunSource.list(root)) {
      if (run.id().split("-", -1)[3].equals(Long.toString(process)) && run.isRunning()) {
        write(run.directory().resolve("note-oom"));
        return ExitCode.OK;
      }
    }
    throw CliException.unreadable(
        "no living run of that process: pid="
            + process
            + ", dir="
            + root
            + " (give its directory with --dir)");
  }

  private void write(Path file) throws IOException {
    String text =
        "at: "
            + Units.rfc3339(session.surroundings.clock().instant())
            + "\nwhat: java.lang.OutOfMemoryError\n";
    boolean posix = Files.getFileStore(file.getParent()).supportsFileAttributeView("posix");
    FileAttribute<Set<PosixFilePermission>> own =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    try (var channel =
        Files.newByteChannel(
            file,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
            posix ? new FileAttribute<?>[] {own} : new FileAttribute<?>[0])) {
      channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    } catch (FileAlreadyExistsException e) {
      return; // the first note stays: it is the one nearest to the cause
    }
  }
}
