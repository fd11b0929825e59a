package cairn.cli;

import cairn.report.Report;
import cairn.report.UnfinishedSpan;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How a run ended, as keys of a JSON object. */
final class DeathRow {
  private DeathRow() {}

  /** Adds cause, confidence, headline, times, open spans. */
  static void verdict(Map<String, @Nullable Object> row, Report report) {
    row.put("cause", report.verdict().cause().name());
    row.put("confidence", report.verdict().confidence().name().toLowerCase(Locale.ROOT));
    row.put("headline", report.verdict().headline());
    if (report.run().lastSeenAt() != null) {
      row.put("lastSeenAt", report.run().lastSeenAt());
    }
    List<UnfinishedSpan> spans = report.openSpans();
    row.put("openSpans", spans.size());
    if (!spans.isEmpty()) {
      Map<String, @Nullable Object> oldest = new LinkedHashMap<>();
      oldest.put("name", spans.get(0).name());
      if (spans.get(0).ageMillis() >= 0) {
        oldest.put("ageMillis", spans.get(0).ageMillis());
      }
      row.put("oldestOpenSpan", oldest);
    }
  }
}
