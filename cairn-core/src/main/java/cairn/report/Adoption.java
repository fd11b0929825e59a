package cairn.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Chooses the run that a new process of the same application takes over. One use, one thread. */
final class Adoption {
  /*
   * Newest first, of the runs that began before the new one: the first that is dead and that nobody
   * has adopted. Whether somebody has is decided by the file system, which makes the file of the
   * adoption at most once.
   *
   * Of eight workers that died, eight new ones adopt one each: a run that a living one has adopted is
   * passed over. But who is adopted by a dead one belongs to history, and so does all before it:
   * otherwise a second worker would dig out a death of last year.
   */

  /** Runs looked at; a directory may hold thousands. */
  private static final int MAX_RUNS = 256;

  private final Path own;
  private final List<Run> before = new ArrayList<>();
  private final List<Run> all = new ArrayList<>();

  /**
   * Takes the runs of the same application.
   *
   * @param runs newest first
   * @param own directory of the new one
   */
  Adoption(Iterable<Run> runs, Path own) {
    this.own = own;
    String id = String.valueOf(own.getFileName());
    Path parent = own.toAbsolutePath().getParent();
    String app = String.valueOf(parent == null ? null : parent.getFileName());
    for (Run run : runs) {
      if (run.app().equals(app)) {
        all.add(run);
        if (run.id().compareTo(id) < 0 && before.size() < MAX_RUNS) {
          before.add(run);
        }
      }
    }
  }

  Optional<Run> adopt() throws IOException {
    for (Run run : before) {
      if (run.isRunning()) {
        continue;
      }
      String adopter = run.adopter();
      if (adopter == null) {
        if (isSeen(run) && run.adopt(String.valueOf(own.getFileName()))) {
          return Optional.of(run);
        }
        adopter = run.adopter();
      }
      if (String.valueOf(own.getFileName()).equals(adopter)) {
        return Optional.of(run); // another part of the same run has asked
      }
      if (adopter != null && !lives(adopter)) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /** {@return whether there is anything to read} Writes down what can be seen of the death now. */
  private static boolean isSeen(Run run) {
    try {
      run.witness(Witness.by("start"));
      return true;
    } catch (IOException | IllegalStateException e) {
      return false;
    }
  }

  private boolean lives(String adopter) {
    for (Run run : all) {
      if (run.id().equals(adopter)) {
        return run.isRunning();
      }
    }
    return false;
  }
}
