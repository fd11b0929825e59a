package cairn.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A profile as text of at most 80 columns. */
final class ProfileText {
  private static final int WIDTH = 80;
  private static final int BAR = 40;
  private static final int NAME = 25;

  /** How far p99 and median of a force are apart on a disk of one's own: less than that. */
  private static final int BUSY_FACTOR = 8;

  private final ProfileReport report;
  private final ProfileLedger ledger;
  private final StringBuilder text = new StringBuilder(4096);

  private ProfileText(ProfileReport report) {
    this.report = report;
    this.ledger = report.ledger();
  }

  static String of(ProfileReport report) {
    return new ProfileText(report).render();
  }

  private String render() {
    head();
    figures();
    durableWrite();
    force();
    meaning();
    prices();
    rates();
    return text.toString();
  }

  private void head() {
    paragraph("", "Write path of " + report.directory() + ": " + report.disk().describe());
    paragraph(
        "",
        Units.rfc3339(report.at()).substring(0, 16).replace('T', ' ')
            + " UTC, events of "
            + report.settings().recordBytes()
            + " bytes, at most "
            + report.secondsText()
            + " s a layer; "
            + report.machine());
    if (report.isPartial()) {
      paragraph("", "PARTIAL: stopped before its end; a layer marked * was cut short.");
    }
    inShort();
  }

  private void inShort() {
    StringBuilder summary = new StringBuilder();
    List<ProfileLedger.Part> parts = ledger.durableWrite();
    ProfileResult force = ledger.find(ProfileLayers.FORCE);
    if (!ledger.verdict().kind().isTrusted()) {
      summary.append(ledger.verdict().text());
    } else if (force != null && !parts.isEmpty()) {
      summary
          .append("A durable write takes ")
          .append(ProfileUnits.micros(force.p50Micros()))
          .append(" us here; ")
          .append(ProfileUnits.percent(parts.get(2).share()))
          .append(" of that is the force, ")
          .append(ProfileUnits.percent(parts.get(0).share()))
          .append(" serialising.");
    }
    ProfileLedger.Rate rate = ledger.at(report.settings().rate());
    if (rate != null) {
      summary
          .append(" Suggested at ")
          .append(Units.whole(rate.eventsPerSecond()))
          .append(" events/s: ")
          .append(rate.suggested())
          .append('.');
    }
    if (!summary.isEmpty()) {
      text.append('\n');
      paragraph("", summary.toString().strip());
    }
  }

  private void figures() {
    text.append('\n');
    row("microseconds a call", "p50", "p99", "p99.9", "max", "mean", "events/s");
    for (ProfileResult result : ledger.results()) {
      String name = result.layer().name() + (result.isPartial() ? " *" : "");
      if (result.error() != null) {
        paragraph("", name + ": failed: " + result.error());
      } else if (result.isMeasured()) {
        row(
            name,
            ProfileUnits.micros(result.p50Micros()),
            ProfileUnits.micros(result.p99Micros()),
            ProfileUnits.micros(result.p999Micros()),
            ProfileUnits.micros(result.maxMicros()),
            ProfileUnits.micros(result.meanMicros()),
            Units.whole(result.eventsPerSecond()));
      }
    }
    paragraph(
        "",
        "A layer with + does what the ones above it do, and more. Each figure includes "
            + ProfileUnits.micros(report.clockNanos() / 1e3)
            + " us for reading the clock twice.");
  }

  private void row(String name, String... cells) {
    StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-" + NAME + "s", name));
    for (int i = 0; i < cells.length; i++) {
      int width = i == cells.length - 1 ? 10 : 9;
      row.append(String.format(Locale.ROOT, "%" + width + "s", cells[i]));
    }
    text.append(row).append('\n');
  }

  private void durableWrite() {
    List<ProfileLedger.Part> parts = ledger.durableWrite();
    if (parts.isEmpty()) {
      return;
    }
    heading("Where the time of one durable write goes (medians, blocks that exist)");
    for (ProfileLedger.Part part : parts) {
      text.append(
          String.format(
                  Locale.ROOT,
                  "  %-8s %10s us %7s  %s",
                  part.name(),
                  ProfileUnits.micros(part.micros()),
                  ProfileUnits.percent(part.share()),
                  bar(part.share()))
              .stripTrailing());
      text.append('\n');
    }
  }

  /** Whatever is more than nothing shows. */
  private static String bar(double share) {
    int length = (int) Math.round(share * BAR);
    return length > 0 ? "#".repeat(length) : share > 0 ? "|" : "";
  }

  private void force() {
    ForceVerdict verdict = ledger.verdict();
    if (verdict.kind().isTrusted()) {
      heading("The force");
      paragraph("  ", verdict.text());
    }
  }

  private void meaning() {
    List<String> sentences = new ArrayList<>();
    List<ProfileLedger.Part> parts = ledger.durableWrite();
    if (!parts.isEmpty()) {
      double encode = parts.get(0).share();
      double force = parts.get(2).share();
      sentences.add(
          "Serialising is "
              + ProfileUnits.percent(encode)
              + " of a durable write"
              + (force > 0.5
                  ? ", the force "
                      + ProfileUnits.percent(force)
                      + ": a faster encoder would not be noticed, fewer forces would."
                  : ", the force only " + ProfileUnits.percent(force) + "."));
    }
    ProfileResult growing = ledger.find(ProfileLayers.FORCE_GROWING);
    ProfileResult force = ledger.find(ProfileLayers.FORCE);
    if (growing != null && force != null && ledger.verdict().kind().isTrusted()) {
      double factor = growing.p50Micros() / force.p50Micros();
      if (factor > 1.2) {
        sentences.add(
            "Forcing a file that grows takes "
                + ProfileUnits.times(factor)
                + " as long: its new length must reach the disk too. Cairn's journal fills its"
                + " segments with zeros first, which saves that.");
      }
    }
    if (force != null && force.p99Micros() > BUSY_FACTOR * force.p50Micros()) {
      sentences.add(
          "One force of a hundred takes "
              + ProfileUnits.times(force.p99Micros() / force.p50Micros())
              + " the median or more: something else uses this disk too. What follows is reckoned"
              + " with the mean, "
              + ProfileUnits.micros(force.meanMicros())
              + " us.");
    }
    ProfileResult alone = ledger.find(ProfileLayers.POWER);
    ProfileResult shared = ledger.find(ProfileLayers.POWER_SHARED);
    if (alone != null && shared != null) {
      sentences.add(
          shared.layer().threads()
              + " threads share their forces: "
              + Units.whole(shared.eventsPerSecond())
              + " events/s, "
              + ProfileUnits.times(shared.eventsPerSecond() / alone.eventsPerSecond())
              + " of what one thread gets; each call waits "
              + ProfileUnits.micros(shared.p50Micros())
              + " us.");
    }
    ProfileResult box = ledger.find(ProfileLayers.BOX);
    ProfileResult write = ledger.find(ProfileLayers.WRITE);
    if (box != null && write != null) {
      sentences.add(
          "The box takes "
              + ProfileUnits.micros(box.p50Micros())
              + " us a call, one write() "
              + ProfileUnits.micros(write.p50Micros())
              + " us. Both survive kill -9, neither power loss.");
    }
    if (!sentences.isEmpty()) {
      heading("What that means");
      for (String sentence : sentences) {
        paragraph("  - ", sentence);
      }
    }
  }

  private void prices() {
    int rate = report.settings().rate();
    List<ProfileLedger.Price> prices = ledger.prices(rate);
    if (prices.isEmpty()) {
      return;
    }
    heading(
        "What a call costs, and how many returned calls a death takes, at "
            + Units.whole(rate)
            + " events/s");
    text.append(
        String.format(
            Locale.ROOT,
            "  %-16s %10s %10s   %-15s %s%n",
            "",
            "p50 us",
            "p99 us",
            "process death",
            "power loss"));
    for (ProfileLedger.Price price : prices) {
      text.append(
          String.format(
              Locale.ROOT,
              "  %-16s %10s %10s   %-15s %s%n",
              price.name(),
              ProfileUnits.micros(price.result().p50Micros()),
              ProfileUnits.micros(price.result().p99Micros()),
              price.processDeathEvents() == 0
                  ? "nothing"
                  : "the last " + Units.whole(price.processDeathEvents()),
              loss(price)));
    }
    paragraph(
        "  ",
        "process() leaves the writing to the kernel, about "
            + ProfileLedger.WRITE_BACK_SECONDS
            + " s. bounded(n) forces when n events wait, or one for 100 ms. power() returns after the"
            + " force.");
  }

  private String loss(ProfileLedger.Price price) {
    if (report.disk().isMemory()) {
      return "everything";
    }
    if (!ledger.verdict().kind().isTrusted() && price.isForced()) {
      return "can't be told";
    }
    if (price.lostEvents() == 0) {
      return "nothing";
    }
    return "about " + Units.whole(price.lostEvents());
  }

  private void rates() {
    ProfileLedger.Rate own = ledger.at(report.settings().rate());
    if (own == null) {
      return;
    }
    heading(
        "What the rate of events changes (yours: "
            + Units.whole(own.eventsPerSecond())
            + " events/s)");
    if (ledger.verdict().kind().isTrusted()) {
      text.append("           disk busy with forces:     power loss takes, about:\n");
      text.append(
          "  events/s    power     n=20    n=100     n=20    n=100    process  suggested\n");
      for (int rate : report.rates()) {
        ProfileLedger.Rate row = ledger.at(rate);
        if (row != null) {
          text.append(rate(row, rate == own.eventsPerSecond())).append('\n');
        }
      }
      paragraph(
          "  ",
          "n=20 is bounded(20, 100 ms). Suggested is the strongest that keeps the disk busy for at most"
              + " a tenth of the time.");
    }
    paragraph("  ", suggestion(own));
  }

  private static String rate(ProfileLedger.Rate rate, boolean isOwn) {
    return String.format(
            Locale.ROOT,
            "%s%9s %8s %8s %8s %8s %8s %10s  %s",
            isOwn ? ">" : " ",
            Units.whole(rate.eventsPerSecond()),
            busy(rate.powerBusy()),
            busy(rate.smallBusy()),
            busy(rate.largeBusy()),
            Units.whole(rate.smallLost()),
            Units.whole(rate.largeLost()),
            Units.whole(rate.processLost()),
            rate.suggested())
        .stripTrailing();
  }

  private static String busy(double share) {
    return share > 1 ? "> 100 %" : ProfileUnits.percent(share);
  }

  private String suggestion(ProfileLedger.Rate rate) {
    if (!ledger.verdict().kind().isTrusted()) {
      return "process(), since forces buy nothing here. Use another disk if power loss matters.";
    }
    String every = ProfileUnits.percent(rate.powerBusy());
    return "At "
        + Units.whole(rate.eventsPerSecond())
        + " events/s that is "
        + rate.suggested()
        + switch (rate.suggested()) {
          case "power()" ->
              ": forcing every event takes "
                  + every
                  + ". Take a weaker one if callers can't wait for the force.";
          case "bounded(20)" ->
              ": it takes "
                  + ProfileUnits.percent(rate.smallBusy())
                  + ", forcing every event would take "
                  + every
                  + ".";
          case "bounded(100)" ->
              ": it takes "
                  + ProfileUnits.percent(rate.largeBusy())
                  + ", bounded(20) would take "
                  + ProfileUnits.percent(rate.smallBusy())
                  + ".";
          default ->
              ": even a force for a hundred events would take "
                  + ProfileUnits.percent(rate.largeBusy())
                  + ".";
        };
  }

  private void heading(String heading) {
    text.append('\n').append(heading).append('\n');
  }

  /** Breaks between words; a word that is too long keeps its line to itself. */
  private void paragraph(String first, String words) {
    String indent = " ".repeat(first.length());
    StringBuilder line = new StringBuilder(first);
    int start = first.length();
    for (String word : Escape.line(words).split(" ", -1)) {
      if (line.length() > start && line.length() + 1 + word.length() > WIDTH) {
        text.append(line).append('\n');
        line.setLength(0);
        line.append(indent);
      }
      if (line.length() > start) {
        line.append(' ');
      }
      line.append(word);
    }
    text.append(line).append('\n');
  }
}
