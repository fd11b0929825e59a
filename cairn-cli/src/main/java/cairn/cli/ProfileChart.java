package cairn.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A profile as an SVG picture: a bar for each layer from the left to its median, a line on to its
 * p99, a tick at its p99.9, on a logarithmic scale. No script, no font, nothing from elsewhere; its
 * colours follow the reader's light or dark.
 */
final class ProfileChart {
  private static final int WIDTH = 960;
  private static final int LEFT = 210;
  private static final int RIGHT = 700;
  private static final int TOP = 112;
  private static final int ROW = 34;
  private static final int BAR = 16;
  private static final int LINE_CHARACTERS = 130;

  private final ProfileReport report;
  private final List<ProfileResult> rows = new ArrayList<>();
  private final StringBuilder svg = new StringBuilder(8192);

  /** Decades at the left and right end of the scale, as powers of ten of a microsecond. */
  private int low = 0;

  private int high = 1;

  private ProfileChart(ProfileReport report) {
    this.report = report;
    for (ProfileResult result : report.ledger().results()) {
      if (result.isMeasured() && result.error() == null) {
        rows.add(result);
        low = Math.min(low, (int) Math.floor(Math.log10(positive(result.p50Micros()))));
        high = Math.max(high, (int) Math.ceil(Math.log10(positive(result.p999Micros()))));
      }
    }
  }

  static String of(ProfileReport report) {
    return new ProfileChart(report).render();
  }

  private String render() {
    List<String> footer = footer();
    int bottom = TOP + rows.size() * ROW;
    int height = bottom + 44 + footer.size() * 18;
    line(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " role=\"img\" aria-labelledby=\"title\">",
        WIDTH, height, WIDTH, height);
    line("<title id=\"title\">%s</title>", xml("Write path of " + report.directory()));
    line(
        "<style>"
            + ":root{color-scheme:light dark}"
            + "text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}"
            + ".h{font-size:19px;font-weight:600}.s{fill:#59636e}.n{font-variant-numeric:tabular-nums}"
            + ".p{fill:#fff}.g{stroke:#d1d9e0}.r{fill:#8c959f}.c{fill:#0969da}.f{fill:#bc4c00}"
            + ".w{stroke:#1f2328;stroke-width:1.5}"
            + "@media(prefers-color-scheme:dark){"
            + "text{fill:#e6edf3}.s{fill:#9198a1}.p{fill:#0d1117}.g{stroke:#30363d}.r{fill:#6e7681}"
            + ".c{fill:#4493f8}.f{fill:#db6d28}.w{stroke:#e6edf3}}"
            + "</style>");
    line("<rect class=\"p\" width=\"%d\" height=\"%d\"/>", WIDTH, height);
    text(20, 34, "h", "Write path of " + report.directory());
    text(
        20,
        56,
        "s",
        report.disk().describe()
            + ", "
            + Units.rfc3339(report.at()).substring(0, 10)
            + ", events of "
            + report.settings().recordBytes()
            + " bytes"
            + (report.isPartial() ? ", PARTIAL" : ""));
    legend();
    scale(bottom);
    for (int i = 0; i < rows.size(); i++) {
      row(TOP + i * ROW, rows.get(i));
    }
    for (int i = 0; i < footer.size(); i++) {
      text(20, bottom + 50 + i * 18, "s", footer.get(i));
    }
    line("</svg>");
    return svg.toString();
  }

  private void legend() {
    int x = 20;
    for (String[] entry :
        new String[][] {
          {"r", "plain I/O"}, {"f", "plain I/O, forced"}, {"c", "Cairn"},
        }) {
      line("<rect class=\"%s\" x=\"%d\" y=\"72\" width=\"12\" height=\"12\"/>", entry[0], x);
      text(x + 18, 83, "s", entry[1]);
      x += 40 + entry[1].length() * 7;
    }
    text(x, 83, "s", "bar: median, line: to p99, tick: p99.9; time of a call, log scale");
  }

  private void scale(int bottom) {
    for (int decade = low; decade <= high; decade++) {
      double x = x(Math.pow(10, decade));
      line(
          "<line class=\"g\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>", x, TOP - 8, x, bottom);
      line(
          "<text class=\"s n\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
          x, bottom + 18, xml(label(decade)));
    }
  }

  /** A unit that fits: people think of a thousand microseconds as a millisecond. */
  private static String label(int decade) {
    if (decade < 0) {
      return Math.round(Math.pow(10, decade + 3)) + " ns";
    }
    if (decade < 3) {
      return Math.round(Math.pow(10, decade)) + " us";
    }
    return decade < 6
        ? Math.round(Math.pow(10, decade - 3)) + " ms"
        : Math.round(Math.pow(10, decade - 6)) + " s";
  }

  private void row(int y, ProfileResult result) {
    double median = x(result.p50Micros());
    double p99 = x(result.p99Micros());
    double p999 = x(result.p999Micros());
    int middle = y + BAR / 2;
    line(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
        LEFT - 10, middle + 5, xml(result.layer().name() + (result.isPartial() ? " *" : "")));
    line(
        "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
        color(result.layer().id()), LEFT, y, Math.max(1, median - LEFT), BAR);
    line(
        "<path class=\"w\" fill=\"none\" d=\"M%.1f %dH%.1fM%.1f %dV%d\"/>",
        median, middle, p99, p999, middle - 5, middle + 5);
    line(
        "<text class=\"n\" x=\"%d\" y=\"%d\">%s us <tspan class=\"s\">%s</tspan></text>",
        RIGHT + 14,
        middle + 5,
        ProfileUnits.micros(result.p50Micros()),
        "p99 "
            + ProfileUnits.micros(result.p99Micros())
            + ", "
            + Units.whole(result.eventsPerSecond())
            + "/s");
  }

  private static String color(String layer) {
    return layer.startsWith("force")
        ? "f"
        : layer.startsWith("journal") || layer.equals(ProfileLayers.BOX) ? "c" : "r";
  }

  private double x(double micros) {
    double share = (Math.log10(positive(micros)) - low) / (high - low);
    return LEFT + Math.min(1, Math.max(0, share)) * (RIGHT - LEFT);
  }

  /** A clock that is coarse can read 0, which has no logarithm. */
  private static double positive(double micros) {
    return Math.max(0.01, micros);
  }

  private List<String> footer() {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word :
        (report.ledger().verdict().text() + " Machine: " + report.machine() + ".").split(" ", -1)) {
      if (line.length() + word.length() >= LINE_CHARACTERS) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.length() == 0 ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }

  private void text(int x, int y, String style, String words) {
    line("<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>", style, x, y, xml(words));
  }

  private void line(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  private static String xml(String words) {
    return Escape.line(words)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
