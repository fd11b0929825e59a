package cairn.cli;

/**
 * What {@code doctor} found out about one thing.
 *
 * @param status how it is
 * @param name what was looked at
 * @param text what was found, with values
 * @param remedy what to do; empty if nothing
 */
record Check(Status status, String name, String text, String remedy) {
  /** Worst last. */
  enum Status {
    OK,
    WARN,
    PROBLEM
  }

  static Check ok(String name, String text) {
    return new Check(Status.OK, name, text, "");
  }

  static Check warn(String name, String text, String remedy) {
    return new Check(Status.WARN, name, text, remedy);
  }

  static Check problem(String name, String text, String remedy) {
    return new Check(Status.PROBLEM, name, text, remedy);
  }
}
