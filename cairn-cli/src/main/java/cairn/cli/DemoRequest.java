package cairn.cli;

/**
 * A request that a client of the demo sent. Times are of {@link System#nanoTime}, in the process of
 * the clients.
 *
 * @param id the value of {@code X-Request-Id}
 * @param name method and route, as the shop names the span
 * @param user the value of {@code X-User}
 * @param sentNanos just before it was sent
 * @param answeredNanos after its whole answer was received; 0 if it was not
 * @param status of the answer; 0 if there was none
 */
record DemoRequest(
    String id, String name, String user, long sentNanos, long answeredNanos, int status) {
  boolean isAnswered() {
    return status != 0;
  }

  DemoRequest answered(int newStatus) {
    return new DemoRequest(id, name, user, sentNanos, System.nanoTime(), newStatus);
  }
}
