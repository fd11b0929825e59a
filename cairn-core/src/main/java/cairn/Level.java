package cairn;

/** How serious a breadcrumb or a scope is, least first. Values and order are those of Sentry. */
public enum Level {
  /** Detail for developers. */
  DEBUG,
  /** Normal operation. */
  INFO,
  /** Unusual, handled. */
  WARNING,
  /** An operation failed. */
  ERROR,
  /** The application cannot go on. */
  FATAL
}
