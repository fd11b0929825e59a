package cairn.journal;

/**
 * Something in a journal that is not sound, or not there.
 *
 * @param file name within the directory
 * @param offset where in the file; 0 where no place is meant
 * @param isLoss whether records are missing for it; false for what explains itself, such as the
 *     torn end of a segment whose records are all elsewhere
 * @param text what is wrong, with its values
 */
public record JournalFinding(String file, long offset, boolean isLoss, String text) {
  @Override
  public String toString() {
    return text + ": file=" + file + ", offset=" + offset;
  }
}
