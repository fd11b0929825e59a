package cairn.stress;

/** What a victim's load leans on. */
public enum Scenario {
  /** All sections at once; each thread has scope fields and spans of its own. */
  MIXED,
  /** As {@link #MIXED}, but one thread alone writes the scope, and clears it now and then. */
  CLEARING,
  /** As {@link #MIXED}, with more open spans than the table has slots. */
  OVERFLOWING
}
