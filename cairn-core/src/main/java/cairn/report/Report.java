package cairn.report;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;

/** What one run left behind, and how it ended. Immutable; any thread. */
@SuppressWarnings("DoNotCallSuggester")
public final class Report {
  Report() {}

  /** {@return who recorded the run} */
  public RunIdentity run() {
    throw new AssertionError();
  }

  /** {@return what ended it} */
  public Verdict verdict() {
    throw new AssertionError();
  }

  /** {@return spans that had begun and not ended, oldest first} */
  public List<UnfinishedSpan> openSpans() {
    throw new AssertionError();
  }

  /** {@return breadcrumbs, oldest first} */
  public List<Breadcrumb> trail() {
    throw new AssertionError();
  }

  /** {@return the scope as last set} */
  public ScopeSnapshot scope() {
    throw new AssertionError();
  }

  /**
   * {@return one sample a second for the last ten minutes, before them one a minute; oldest first}
   */
  public List<VitalsSample> vitals() {
    throw new AssertionError();
  }

  /** {@return what was evicted, dropped or cut, by name; a name is absent if unknown} */
  public Map<String, Long> counters() {
    throw new AssertionError();
  }

  /** {@return damage, gaps and limits} */
  public List<Finding> findings() {
    throw new AssertionError();
  }

  /** {@return the report as JSON, as {@code docs/REPORT.md} documents it} */
  public String toJson() {
    throw new AssertionError();
  }

  /**
   * Writes {@link #toJson} as UTF-8.
   *
   * @throws IOException from {@code out}
   */
  public void writeJson(OutputStream out) throws IOException {
    throw new IOException("stub: " + out);
  }

  /** {@return everything as text, at most 100 columns where the content allows, without colour} */
  public String toText() {
    return toText(ReportPart.values());
  }

  /**
   * {@return these parts as text}
   *
   * @param parts shown in the order of {@link ReportPart}
   */
  public String toText(ReportPart... parts) {
    throw new AssertionError();
  }
}
