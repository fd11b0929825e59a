package cairn.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A profile as JSON; docs/PROFILE.md documents it. */
final class ProfileJson {
  private ProfileJson() {}

  static String of(ProfileReport report) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("schema", 1);
    json.put("at", report.at());
    json.put("partial", report.isPartial());
    json.put("directory", directory(report));
    json.put("machine", report.machine());
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("seconds", report.settings().seconds());
    settings.put("recordBytes", report.settings().recordBytes());
    settings.put("threads", report.settings().threads());
    settings.put("rate", report.settings().rate());
    json.put("settings", settings);
    json.put("clockMicros", report.clockNanos() / 1e3);
    json.put("layers", layers(report.ledger()));
    json.put("durableWrite", durableWrite(report.ledger()));
    Map<String, Object> force = new LinkedHashMap<>();
    force.put("verdict", report.ledger().verdict().kind().name().toLowerCase(Locale.ROOT));
    force.put("text", report.ledger().verdict().text());
    json.put("force", force);
    json.put("durabilities", durabilities(report));
    json.put("rates", rates(report));
    return Json.of(json);
  }

  private static Map<String, Object> directory(ProfileReport report) {
    ProfileDisk disk = report.disk();
    Map<String, Object> directory = new LinkedHashMap<>();
    directory.put("path", report.directory().toString());
    directory.put("fileSystem", disk.type());
    directory.put("device", disk.device());
    if (disk.usableBytes() >= 0) {
      directory.put("usableBytes", disk.usableBytes());
    }
    if (disk.writeCache() != null) {
      directory.put("writeCache", disk.writeCache());
    }
    if (disk.isRotational() != null) {
      directory.put("rotational", disk.isRotational());
    }
    if (disk.backing() != null) {
      directory.put("backing", disk.backing());
    }
    return directory;
  }

  private static List<Map<String, Object>> layers(ProfileLedger ledger) {
    List<Map<String, Object>> layers = new ArrayList<>();
    for (ProfileResult result : ledger.results()) {
      Map<String, Object> layer = new LinkedHashMap<>();
      layer.put("layer", result.layer().id());
      layer.put("text", result.layer().text());
      layer.put("threads", result.layer().threads());
      layer.put("partial", result.isPartial());
      if (result.error() != null) {
        layer.put("error", result.error());
      } else if (result.isMeasured()) {
        layer.put("events", result.latencies().count());
        layer.put("seconds", rounded(result.elapsedNanos() / 1e9));
        layer.put("eventsPerSecond", rounded(result.eventsPerSecond()));
        Map<String, Object> micros = new LinkedHashMap<>();
        micros.put("p50", rounded(result.p50Micros()));
        micros.put("p99", rounded(result.p99Micros()));
        micros.put("p999", rounded(result.p999Micros()));
        micros.put("max", rounded(result.maxMicros()));
        micros.put("mean", rounded(result.meanMicros()));
        layer.put("micros", micros);
      }
      layers.add(layer);
    }
    return layers;
  }

  private static List<Map<String, Object>> durableWrite(ProfileLedger ledger) {
    List<Map<String, Object>> parts = new ArrayList<>();
    for (ProfileLedger.Part part : ledger.durableWrite()) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("part", part.name());
      row.put("micros", rounded(part.micros()));
      row.put("share", rounded(part.share()));
      parts.add(row);
    }
    return parts;
  }

  private static List<Map<String, Object>> durabilities(ProfileReport report) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (ProfileLedger.Price price : report.ledger().prices(report.settings().rate())) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("durability", price.name());
      row.put("layer", price.result().layer().id());
      row.put("processDeathTakes", price.processDeathEvents());
      if (report.ledger().verdict().kind().isTrusted()) {
        row.put("powerLossTakes", price.lostEvents());
      }
      rows.add(row);
    }
    return rows;
  }

  private static List<Map<String, Object>> rates(ProfileReport report) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int rate : report.rates()) {
      ProfileLedger.Rate at = report.ledger().at(rate);
      if (at == null) {
        continue;
      }
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("eventsPerSecond", rate);
      Map<String, Object> busy = new LinkedHashMap<>();
      busy.put("power()", rounded(at.powerBusy()));
      busy.put("bounded(20)", rounded(at.smallBusy()));
      busy.put("bounded(100)", rounded(at.largeBusy()));
      row.put("diskBusyShare", busy);
      if (report.ledger().verdict().kind().isTrusted()) {
        row.put("powerLossTakes", lost(at));
      }
      row.put("suggested", at.suggested());
      rows.add(row);
    }
    return rows;
  }

  private static Map<String, Object> lost(ProfileLedger.Rate rate) {
    Map<String, Object> lost = new LinkedHashMap<>();
    lost.put("power()", 0);
    lost.put("bounded(20)", rate.smallLost());
    lost.put("bounded(100)", rate.largeLost());
    lost.put("process()", rate.processLost());
    return lost;
  }

  /** To six digits behind the point: what is behind them is noise. */
  private static double rounded(double number) {
    return Math.rint(number * 1e6) / 1e6;
  }
}
