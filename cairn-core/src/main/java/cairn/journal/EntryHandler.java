package cairn.journal;

import java.io.IOException;

/** Takes the entries of a replay, one after the other. */
@FunctionalInterface
public interface EntryHandler {
  /**
   * Called for each entry, oldest first, on the thread that replays; what it throws ends the
   * replay.
   */
  void entry(Entry entry) throws IOException;
}
