package cairn.bench;

/**
 * How thorough a run is.
 *
 * @param quick a smoke test in seconds; its numbers are directional
 * @param rounds how often everything is measured, in turn
 * @param patience asked before each measurement
 */
record Settings(boolean quick, int rounds, Patience patience) {}
