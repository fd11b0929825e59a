package cairn.report;

import java.io.IOException;

/** Takes the report of a death somewhere; see {@link Run#deliver}. */
@FunctionalInterface
public interface Delivery {
  /**
   * Delivers. Called under a lock: no other process delivers at the same time.
   *
   * @param report of a dead run; its id says whether it was delivered before
   * @throws IOException if it could not: it is tried again at the next call of {@link Run#deliver}
   */
  void deliver(Report report) throws IOException;
}
