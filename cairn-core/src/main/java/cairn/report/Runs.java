package cairn.report;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The runs under a root directory, newest first.
 *
 * <p>A snapshot taken by {@link #under}; immutable. Reads directories only; no box is opened before
 * {@link Run#report} or {@link Run#isRunning}.
 */
public final class Runs implements Iterable<Run> {
  private static final DateTimeFormatter START =
      DateTimeFormatter.ofPattern("uuuuMMdd-HHmmss-SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final int START_LENGTH = "yyyyMMdd-HHmmss-SSS".length();

  private static final Pattern RUN_ID = Pattern.compile("\\d{8}-\\d{6}-\\d{3}-\\d+-[0-9a-f]{8}");
  static final String REPORTS = "reports";

  private final List<Run> runs;

  private Runs(List<Run> runs) {
    this.runs = Collections.unmodifiableList(runs);
  }

  /**
   * Lists the runs under {@code root}, which is laid out as {@code <root>/<app>/<run-id>/}. What
   * doesn't look like a run is passed over: unfinished directories, symbolic links, other files.
   *
   * @throws IOException if {@code root} is missing, no directory or not readable
   */
  public static Runs under(Path root) throws IOException {
    if (!Files.isDirectory(root)) {
      throw new IOException(
          (Files.exists(root) ? "root is not a directory: root=" : "root does not exist: root=")
              + root
              + " (give the directory that the recorder writes to)");
    }
    List<Run> runs = new ArrayList<>();
    for (Path app : directories(root)) {
      List<Path> entries;
      try {
        entries = directories(app);
      } catch (IOException e) {
        continue; // one application's directory that is gone or closed must not hide the others
      }
      for (Path entry : entries) {
        if (RUN_ID.matcher(name(entry)).matches()) {
          runs.add(new Run(entry, name(app), name(entry)));
        }
      }
    }
    runs.sort(Comparator.comparing(Run::id).thenComparing(Run::app).reversed());
    return new Runs(runs);
  }

  private static List<Path> directories(Path parent) throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(parent)) {
      for (Path entry : stream) {
        if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
          found.add(entry);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return found;
  }

  private static String name(Path path) {
    return String.valueOf(path.getFileName());
  }

  /** {@return the runs, newest first} */
  public List<Run> list() {
    return runs;
  }

  /** {@return the newest run whose process is dead, if any} */
  public Optional<Run> newestDead() {
    return runs.stream().filter(run -> !run.isRunning()).findFirst();
  }

  /**
   * {@return the run of that id, or the only one whose id starts or ends with it, or the newest of
   * that process id}
   *
   * @param idOrPart a run id, a part of one, or a pid, which is what other tools name
   */
  public Optional<Run> find(String idOrPart) {
    if (idOrPart.isEmpty()) {
      return Optional.empty();
    }
    List<Run> parts = new ArrayList<>();
    List<Run> ofPid = new ArrayList<>();
    for (Run run : runs) {
      if (run.id().equals(idOrPart)) {
        return Optional.of(run);
      }
      if (run.id().startsWith(idOrPart) || run.id().endsWith(idOrPart)) {
        parts.add(run);
      }
      if (run.id().split("-", -1)[3].equals(idOrPart)) {
        ofPid.add(run);
      }
    }
    if (parts.isEmpty() && !ofPid.isEmpty()) {
      return Optional.of(ofPid.get(0));
    }
    return parts.size() == 1 ? Optional.of(parts.get(0)) : Optional.empty();
  }

  /**
   * Finds the dead run that a new run of the same application follows, and marks it as adopted by
   * that: at most one of any number of new processes gets it. Called by the recorder; see {@code
   * Recorder.lastRun}.
   *
   * @param own directory of the new run
   * @return it; empty if there is none that nobody has adopted
   * @throws IOException if the adoption can't be written down
   */
  public Optional<Run> adoptPrevious(Path own) throws IOException {
    return new Adoption(this, own).adopt();
  }

  @Override
  public Iterator<Run> iterator() {
    return runs.iterator();
  }

  /** {@return when a run of that pid began, by its id; null if it is none} */
  static @Nullable Instant startOf(String id, long pid) {
    if (!RUN_ID.matcher(id).matches() || !id.startsWith("-" + pid + "-", START_LENGTH)) {
      return null;
    }
    try {
      return START.parse(id.substring(0, START_LENGTH), Instant::from);
    } catch (DateTimeException e) {
      return null;
    }
  }
}
