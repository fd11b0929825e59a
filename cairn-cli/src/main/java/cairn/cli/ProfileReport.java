package cairn.cli;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Everything that a profile has to tell; text, JSON and chart are made of it.
 *
 * @param directory whose disk was measured
 * @param disk what is known of it
 * @param ledger the figures and what follows from them
 * @param settings what was asked for
 * @param at when
 * @param isPartial whether it was stopped before its end
 * @param clockNanos what two readings of the clock take; in every figure
 * @param machine processors, Java and kernel, in words
 */
record ProfileReport(
    Path directory,
    ProfileDisk disk,
    ProfileLedger ledger,
    Settings settings,
    Instant at,
    boolean isPartial,
    long clockNanos,
    String machine) {

  /**
   * What was asked for.
   *
   * @param seconds for each layer
   * @param recordBytes length of an event as JSON
   * @param threads of the layer that shares its forces
   * @param rate events per second that the application is thought to have
   */
  record Settings(double seconds, int recordBytes, int threads, int rate) {}

  /** {@return rates to show, ascending: some that are always shown, and the one asked for} */
  List<Integer> rates() {
    TreeSet<Integer> rates = new TreeSet<>(List.of(10, 100, 1_000, 10_000));
    rates.add(settings.rate());
    return new ArrayList<>(rates);
  }

  /** {@return "1.5"; without decimals where there are none} */
  String secondsText() {
    double seconds = settings.seconds();
    return seconds == Math.rint(seconds) ? Long.toString((long) seconds) : Double.toString(seconds);
  }
}
