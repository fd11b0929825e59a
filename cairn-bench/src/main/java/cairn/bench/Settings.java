package cairn.bench;

import java.util.List;

/**
 * How thorough a run is.
 *
 * @param quick a smoke test in seconds; its numbers are directional
 * @param rounds how often everything is measured, in turn
 * @param patience asked before each measurement
 * @param only the contenders to run, known ones; empty for all
 * @param sizes the sizes to run, known ones; empty for all
 * @param cases the cases of {@link SpanBenchmark} to run; empty for all
 * @param threads the numbers of threads to run, positive ones; empty for the usual
 */
record Settings(
    boolean quick,
    int rounds,
    Patience patience,
    List<String> only,
    List<Integer> sizes,
    List<SpanCase> cases,
    List<Integer> threads) {

  /** {@return those of {@code all} that were asked for} */
  List<String> only(List<String> all) {
    return only.isEmpty() ? all : only;
  }

  /** {@return those of {@code all} that were asked for} */
  List<Integer> sizes(List<Integer> all) {
    return sizes.isEmpty() ? all : sizes;
  }

  /** {@return those cases that were asked for} */
  public List<SpanCase> cases() {
    return cases.isEmpty() ? List.of(SpanCase.values()) : cases;
  }

  /** {@return the numbers of threads that were asked for, else {@code usual}} */
  List<Integer> threads(List<Integer> usual) {
    return threads.isEmpty() ? usual : threads;
  }
}
