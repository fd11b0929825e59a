package cairn.report;

/** The parts of a report as text, in the order they are shown. */
public enum ReportPart {
  /** The sentence. */
  HEADLINE,
  /** Open spans, oldest first, with age, thread and attributes. */
  OPEN_SPANS,
  /** What was open when memory had become tight; left out if it never had. */
  PRESSURE,
  /** Evidence for and against, and what is missing. */
  EVIDENCE,
  /** What to look at next, and how to know more next time. */
  ADVICE,
  /** The newest breadcrumbs. */
  TRAIL,
  /** The last minutes as sparklines. */
  VITALS,
  /** User, tags, contexts, extras. */
  SCOPE,
  /** Application, release, host, pid, times, durability. */
  RUN,
  /** What was evicted, dropped or cut. */
  COUNTERS,
  /** Damage and gaps. */
  FINDINGS
}
