package cairn;

/** How serious a breadcrumb or a scope is, least first. Values and order are those of Sentry. */
public enum Level {
  /** Detail for developers. */
  DEBUG(0),
  /** Normal operation. */
  INFO(1),
  /** Unusual, handled. */
  WARNING(2),
  /** An operation failed. */
  ERROR(3),
  /** The application cannot go on. */
  FATAL(4);

  /** What stands for it in a record: FORMAT.md. */
  final int code;

  Level(int code) {
    this.code = code;
  }
}
