package cairn.stress;

import java.util.ArrayList;
import java.util.List;

/** What checks have found so far. One thread at a time. */
public final class Tally {
  private static final int MAX_DETAILS = 40;

  private long kills;
  private long recordsChecked;
  private long lost;
  private long torn;
  private long phantom;
  private long duplicate;
  private long disordered;
  private long scopeViolations;
  private long spanViolations;
  private long otherViolations;
  private long lapped;
  private final List<String> details = new ArrayList<>();

  /** Adds everything that {@code that} has found. */
  public synchronized void add(Tally that) {
    kills += that.kills;
    recordsChecked += that.recordsChecked;
    lost += that.lost;
    torn += that.torn;
    phantom += that.phantom;
    duplicate += that.duplicate;
    disordered += that.disordered;
    scopeViolations += that.scopeViolations;
    spanViolations += that.spanViolations;
    otherViolations += that.otherViolations;
    lapped += that.lapped;
    that.details.forEach(this::note);
  }

  void kill() {
    kills++;
  }

  void checked(long records) {
    recordsChecked += records;
  }

  void lost(long count, String detail) {
    lost += count;
    note("lost: " + detail);
  }

  void torn(String detail) {
    torn++;
    note("torn: " + detail);
  }

  void phantom(String detail) {
    phantom++;
    note("phantom: " + detail);
  }

  void duplicate(String detail) {
    duplicate++;
    note("duplicate: " + detail);
  }

  void disordered(String detail) {
    disordered++;
    note("disordered: " + detail);
  }

  void scope(String detail) {
    scopeViolations++;
    note("scope: " + detail);
  }

  void span(String detail) {
    spanViolations++;
    note("span: " + detail);
  }

  void other(String detail) {
    otherViolations++;
    note("other: " + detail);
  }

  void lapped() {
    lapped++;
  }

  /** {@return how many victims were killed} */
  public synchronized long kills() {
    return kills;
  }

  /** {@return how many breadcrumbs, scope fields and open spans were compared} */
  public synchronized long recordsChecked() {
    return recordsChecked;
  }

  /** {@return how many breadcrumbs a lapped writer destroyed, which is no violation} */
  public synchronized long lappedRecords() {
    return lapped;
  }

  /** {@return how many violations there are} */
  public synchronized long violations() {
    return lost
        + torn
        + phantom
        + duplicate
        + disordered
        + scopeViolations
        + spanViolations
        + otherViolations;
  }

  /** {@return the first violations in words} */
  public synchronized List<String> details() {
    return List.copyOf(details);
  }

  @Override
  public synchronized String toString() {
    return "kills="
        + kills
        + " recordsChecked="
        + recordsChecked
        + " lost="
        + lost
        + " torn="
        + torn
        + " phantom="
        + phantom
        + " duplicate="
        + duplicate
        + " disordered="
        + disordered
        + " scopeViolations="
        + scopeViolations
        + " spanViolations="
        + spanViolations
        + " otherViolations="
        + otherViolations
        + " lapped="
        + lapped;
  }

  private void note(String detail) {
    if (details.size() < MAX_DETAILS) {
      details.add(detail);
    }
  }
}
