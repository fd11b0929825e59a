package cairn.sentry;

/** The version of this library. */
final class Version {
  /** Compared with the build's by a test. */
  static final String TEXT = "0.1.0";

  private Version() {}
}
