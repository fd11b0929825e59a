package cairn.bench;

import cairn.bench.Bootstrap.Difference;
import java.util.List;
import java.util.Locale;

/**
 * A sweep as an SVG picture: for each heap and arm a dot at the difference in throughput, a line
 * for its interval, and a cross where there was no shop to measure. No script, no font, nothing
 * from elsewhere; its colours follow the reader's light or dark, and shapes tell the arms apart
 * too.
 */
final class HeapChart {
  private static final int WIDTH = 960;
  private static final int LEFT = 76;
  private static final int RIGHT = 936;
  private static final int TOP = 120;
  private static final int BOTTOM = 500;
  private static final int LEGEND = 82;
  private static final int FLOOR_PERCENT = 10;

  /** Grid lines, at most. */
  private static final int MOST_LINES = 8;

  private final HeapPlan plan;
  private final HeapResults results;
  private final List<HeapArm> arms;
  private final StringBuilder svg = new StringBuilder(16_384);

  /** Ends of the scale, in percent. */
  private int low = -FLOOR_PERCENT;

  private int high = FLOOR_PERCENT / 2;

  private HeapChart(HeapPlan plan, HeapResults results) {
    this.plan = plan;
    this.results = results;
    this.arms = plan.arms().stream().filter(arm -> arm != HeapReport.BASE).toList();
    for (int heap : plan.heaps()) {
      for (HeapArm arm : arms) {
        List<Bootstrap.Pair> pairs = results.pairs(heap, arm, HeapReport.BASE);
        if (pairs.size() > 1) {
          Difference difference = Bootstrap.difference(pairs);
          low = Math.min(low, (int) Math.floor(100 * difference.low()));
          high = Math.max(high, (int) Math.ceil(100 * difference.high()));
        }
      }
    }
  }

  static String of(HeapPlan plan, HeapResults results) {
    return new HeapChart(plan, results).render();
  }

  private String render() {
    int height = BOTTOM + 64;
    line(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " role=\"img\" aria-labelledby=\"title\">",
        WIDTH, height, WIDTH, height);
    line("<title id=\"title\">Throughput of a small application against no telemetry</title>");
    line(
        "<style>"
            + ":root{color-scheme:light dark}"
            + "text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}"
            + ".h{font-size:19px;font-weight:600}.s{fill:#59636e}.n{font-variant-numeric:tabular-nums}"
            + ".p{fill:#fff}.g{stroke:#d1d9e0}.z{stroke:#59636e;stroke-width:1.5}"
            + ".twin{color:#6e7781}.cairn{color:#0969da}.sdk-cairn{color:#1a7f37}"
            + ".otel-agent{color:#bc4c00}.datadog{color:#8250df}.noop{color:#9a6700}"
            + ".m{fill:currentColor;stroke:currentColor}.w{stroke:currentColor;stroke-width:2;fill:none}"
            + "@media(prefers-color-scheme:dark){"
            + "text{fill:#e6edf3}.s{fill:#9198a1}.p{fill:#0d1117}.g{stroke:#30363d}.z{stroke:#9198a1}"
            + ".twin{color:#9198a1}.cairn{color:#4493f8}.sdk-cairn{color:#3fb950}"
            + ".otel-agent{color:#f0883e}.datadog{color:#ab7df8}.noop{color:#d29922}}"
            + "</style>");
    line("<rect class=\"p\" width=\"%d\" height=\"%d\"/>", WIDTH, height);
    text(20, 34, "h", "Throughput of a small application against no telemetry");
    text(
        20,
        58,
        "s",
        "difference in answers per second; lines: 95 % interval of a bootstrap over "
            + plan.rounds()
            + " interleaved rounds; cross: no shop to measure");
    legend();
    scale();
    for (int i = 0; i < plan.heaps().size(); i++) {
      heap(i);
    }
    text(
        20,
        height - 12,
        "s",
        "heap of the shop (-Xmx); closed loop of " + plan.clients() + " clients");
    line("</svg>");
    return svg.toString();
  }

  private void legend() {
    int x = 20;
    for (int i = 0; i < arms.size(); i++) {
      line("<g class=\"%s\">", arms.get(i).id);
      marker(i, x + 6, LEGEND);
      line("</g>");
      text(x + 18, LEGEND + 5, "s", arms.get(i).label);
      x += 44 + arms.get(i).label.length() * 7;
    }
  }

  private void scale() {
    int step = 1;
    for (int next : new int[] {2, 5, 10, 20, 25, 50}) {
      if ((high - low) / step > MOST_LINES) {
        step = next;
      }
    }
    low = Math.floorDiv(low, step) * step;
    high = -Math.floorDiv(-high, step) * step;
    for (int percent = low; percent <= high; percent += step) {
      double y = y(percent / 100.0);
      line(
          "<line class=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>",
          percent == 0 ? "z" : "g", LEFT, y, RIGHT, y);
      line(
          "<text class=\"s n\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
          LEFT - 8, y + 5, percent == 0 ? "0 %" : String.format(Locale.ROOT, "%+d %%", percent));
    }
  }

  private void heap(int index) {
    int heap = plan.heaps().get(index);
    double width = (double) (RIGHT - LEFT) / plan.heaps().size();
    double left = LEFT + index * width;
    line(
        "<text class=\"n\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d MiB</text>",
        left + width / 2, BOTTOM + 26, heap);
    for (int i = 0; i < arms.size(); i++) {
      HeapArm arm = arms.get(i);
      if (results.rows(heap, arm).isEmpty()) {
        continue;
      }
      double x = left + width * (i + 1) / (arms.size() + 1);
      line("<g class=\"%s\">", arm.id);
      List<Bootstrap.Pair> pairs = results.pairs(heap, arm, HeapReport.BASE);
      if (pairs.size() > 1) {
        Difference difference = Bootstrap.difference(pairs);
        line("<title>%s, %d MiB: %s</title>", arm.label, heap, HeapReport.text(difference));
        line(
            "<path class=\"w\" d=\"M%.1f %.1fV%.1f\"/>",
            x, y(difference.low()), y(difference.high()));
        marker(i, x, y(difference.estimate()));
      } else {
        line("<title>%s, %d MiB: no shop to measure</title>", arm.label, heap);
        double y = BOTTOM - 8;
        line("<path class=\"w\" d=\"M%.1f %.1fl10 10m0 -10l-10 10\"/>", x - 5, y - 5);
      }
      line("</g>");
    }
  }

  /** A shape for each arm, for who does not tell colours apart. */
  private void marker(int arm, double x, double y) {
    switch (arm % 5) {
      case 0 -> line("<path class=\"w\" d=\"M%.1f %.1fh10m-5 -5v10\"/>", x - 5, y);
      case 1 -> line("<circle class=\"m\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", x, y);
      case 2 ->
          line(
              "<rect class=\"m\" x=\"%.1f\" y=\"%.1f\" width=\"9\" height=\"9\"/>",
              x - 4.5, y - 4.5);
      case 3 -> line("<path class=\"m\" d=\"M%.1f %.1fl6 10h-12z\"/>", x, y - 6);
      default -> line("<path class=\"m\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\"/>", x, y - 6);
    }
  }

  private double y(double share) {
    return BOTTOM - (100 * share - low) / (high - low) * (BOTTOM - TOP);
  }

  private void text(int x, int y, String style, String words) {
    line("<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>", style, x, y, words);
  }

  private void line(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
