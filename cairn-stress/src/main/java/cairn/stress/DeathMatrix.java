package cairn.stress;

import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Verdict;
import cairn.stress.Death.Grade;
import cairn.stress.Death.View;
import cairn.stress.DeathHarness.Dead;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** How often which verdict was given for which true cause, and what it is worth. Any thread. */
public final class DeathMatrix {
  private final Map<View, Map<Cause, Map<String, Integer>>> cells = new EnumMap<>(View.class);
  private final Map<View, Map<Grade, Integer>> grades = new EnumMap<>(View.class);
  private final Map<String, Map<View, Map<String, Integer>>> byDeath = new TreeMap<>();
  private final Map<Integer, Integer> byJdk = new TreeMap<>();
  private final List<String> notRun = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();
  private final List<String> broken = new ArrayList<>();
  private int deaths;
  private long seconds;

  synchronized void add(Dead dead) {
    deaths++;
    byJdk.merge(dead.jdk().feature(), 1, Integer::sum);
    for (Map.Entry<View, Verdict> entry : dead.verdicts().entrySet()) {
      View view = entry.getKey();
      Verdict verdict = entry.getValue();
      String text = verdict.cause() + " " + verdict.confidence().name().toLowerCase(Locale.ROOT);
      Grade grade = dead.death().grade(view, verdict);
      cells
          .computeIfAbsent(view, v -> new EnumMap<>(Cause.class))
          .computeIfAbsent(dead.death().truth, c -> new TreeMap<>())
          .merge(text, 1, Integer::sum);
      grades.computeIfAbsent(view, v -> new EnumMap<>(Grade.class)).merge(grade, 1, Integer::sum);
      byDeath
          .computeIfAbsent(dead.death().name, d -> new EnumMap<>(View.class))
          .computeIfAbsent(view, v -> new LinkedHashMap<>())
          .merge(text + remark(grade), 1, Integer::sum);
      if (grade == Grade.WRONG || grade == Grade.BAD_GUESS) {
        wrong.add(grade + ", " + view.text + ": " + dead.death().name + ": " + text);
      }
    }
  }

  private static String remark(Grade grade) {
    return switch (grade) {
      case SAME_TRACE -> " (same trace)";
      case BAD_GUESS -> " (bad guess)";
      case WRONG -> " (wrong)";
      default -> "";
    };
  }

  synchronized void notRun(Death death) {
    notRun.add(death.name);
  }

  synchronized void broken(Death death) {
    broken.add(death.name);
  }

  synchronized void seconds(long duration) {
    seconds = duration;
  }

  /** {@return how many died} */
  public synchronized int deaths() {
    return deaths;
  }

  /** {@return what was wrong, one line each} */
  public synchronized List<String> wrong() {
    return List.copyOf(wrong);
  }

  /** {@return the deaths that could not be had, for another reason than that the machine can't} */
  public synchronized List<String> broken() {
    return List.copyOf(broken);
  }

  /** {@return whether every verdict is right, or said to be no more than possible} */
  public synchronized boolean isRight() {
    return wrong.isEmpty() && broken.isEmpty();
  }

  synchronized String toText() {
    StringBuilder text = new StringBuilder();
    wrong.forEach(line -> text.append(line).append('\n'));
    cells.forEach(
        (view, rows) -> {
          text.append(view.text).append(": ").append(grades.get(view)).append('\n');
          rows.forEach(
              (truth, row) ->
                  text.append("  ").append(truth).append(": ").append(row).append('\n'));
        });
    return text.toString();
  }

  /** {@return the tables of docs/VERDICTS.md} */
  public synchronized String toMarkdown() {
    StringBuilder text = new StringBuilder();
    cells.forEach((view, rows) -> matrix(text, view, rows));
    text.append("## Each way to die\n\n");
    text.append("| true cause | way | may be said | with the status | was said |\n");
    text.append("|---|---|---|---|---|\n");
    for (Death death : DeathCatalogue.all()) {
      String alone = death.allowedText(View.ALONE);
      String status = death.allowedText(View.STATUS);
      text.append("| ").append(death.truth).append(" | ").append(death.name);
      text.append(" | ").append(alone).append(" | ").append(status.equals(alone) ? "" : status);
      text.append(" | ").append(said(death)).append(" |\n");
    }
    return text.toString();
  }

  private String said(Death death) {
    Map<View, Map<String, Integer>> said = byDeath.get(death.name);
    if (said == null) {
      return "not run";
    }
    // Views that say the same are one.
    Map<String, List<String>> viewsByText = new LinkedHashMap<>();
    said.forEach(
        (view, counts) ->
            viewsByText.computeIfAbsent(counts(counts), c -> new ArrayList<>()).add(view.text));
    if (viewsByText.size() == 1) {
      return viewsByText.keySet().iterator().next();
    }
    List<String> parts = new ArrayList<>();
    viewsByText.forEach((counts, views) -> parts.add(String.join(", ", views) + ": " + counts));
    return String.join("; ", parts);
  }

  private static String counts(Map<String, Integer> counts) {
    List<String> parts = new ArrayList<>();
    counts.forEach((what, count) -> parts.add(what + (count == 1 ? "" : " x " + count)));
    return String.join(", ", parts);
  }

  private void matrix(StringBuilder text, View view, Map<Cause, Map<String, Integer>> rows) {
    TreeSet<Cause> columns = new TreeSet<>();
    for (Map<String, Integer> row : rows.values()) {
      row.keySet().forEach(cell -> columns.add(Cause.valueOf(cell.split(" ", -1)[0])));
    }
    text.append("## Judged ").append(view.text).append("\n\n");
    Map<Grade, Integer> worth = grades.getOrDefault(view, Map.of());
    text.append(worth.getOrDefault(Grade.RIGHT, 0)).append(" right at certain or likely, ");
    text.append(worth.getOrDefault(Grade.SAME_TRACE, 0));
    text.append(" at likely of another cause that leaves the same trace, ");
    text.append(worth.getOrDefault(Grade.UNSURE, 0)).append(" not sure, ");
    text.append(worth.getOrDefault(Grade.BAD_GUESS, 0)).append(" bad guesses, ");
    text.append(worth.getOrDefault(Grade.WRONG, 0)).append(" wrong at certain or likely.");
    text.append("\n\n| true cause |");
    columns.forEach(column -> text.append(' ').append(column).append(" |"));
    text.append("\n|---|").append("---|".repeat(columns.size())).append('\n');
    rows.forEach(
        (truth, row) -> {
          text.append("| ").append(truth).append(" |");
          for (Cause column : columns) {
            List<String> parts = new ArrayList<>();
            for (Confidence confidence : Confidence.values()) {
              String word = confidence.name().toLowerCase(Locale.ROOT);
              Integer count = row.get(column + " " + word);
              if (count != null) {
                parts.add(count + " " + word);
              }
            }
            text.append(' ').append(String.join(", ", parts)).append(" |");
          }
          text.append('\n');
        });
    text.append('\n');
  }

  @Override
  public synchronized String toString() {
    return "deaths="
        + deaths
        + " byJdk="
        + byJdk
        + " wrong="
        + wrong.size()
        + " broken="
        + broken.size()
        + " notRun="
        + notRun
        + " seconds="
        + seconds;
  }
}
