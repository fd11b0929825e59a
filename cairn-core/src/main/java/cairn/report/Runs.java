package cairn.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The runs under a root directory, newest first.
 *
 * <p>A snapshot taken by {@link #under}; immutable. Reads directories only; no box is opened before
 * {@link Run#report}.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class Runs implements Iterable<Run> {
  Runs() {}

  /**
   * Lists the runs under {@code root}, which is laid out as {@code <root>/<app>/<run-id>/}.
   *
   * @throws IOException if {@code root} is missing, no directory or not readable
   */
  public static Runs under(Path root) throws IOException {
    throw new IOException("stub: " + root);
  }

  /** {@return the runs, newest first} */
  public List<Run> list() {
    throw new AssertionError();
  }

  /** {@return the newest run whose process is dead, if any} */
  public Optional<Run> newestDead() {
    throw new AssertionError();
  }

  /**
   * {@return the run of that id, or the only one whose id starts or ends with it}
   *
   * @param idOrPart a run id or a part of one
   */
  public Optional<Run> find(String idOrPart) {
    throw new AssertionError();
  }

  @Override
  public Iterator<Run> iterator() {
    return list().iterator();
  }
}
