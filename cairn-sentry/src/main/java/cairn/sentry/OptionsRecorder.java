package cairn.sentry;

import cairn.Recorder;
import io.sentry.SentryOptions;
import io.sentry.protocol.SdkVersion;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A recorder as Sentry's options want it. */
final class OptionsRecorder {
  private static final String DEFAULT_APP = "cairn";
  private static final int MAX_APP_LENGTH = 100;

  /** So that contexts of some hundred kilobytes fit, one of up to 256 KiB. */
  private static final int SCOPE_BYTES = 512 * 1024;

  private static final int TRAIL_BYTES = 2 * 1024 * 1024;
  private static final int MAX_TRAIL_BYTES = 1 << 28;

  /** More than most take. */
  private static final int BYTES_PER_BREADCRUMB = 512;

  private OptionsRecorder() {}

  static Recorder open(SentryOptions options) {
    Recorder.Builder builder =
        Recorder.builder(app(options))
            .scopeBytes(SCOPE_BYTES)
            .trailBytes(trailBytes(options.getMaxBreadcrumbs()));
    String release = options.getRelease();
    if (release != null) {
      builder.release(release);
    }
    String environment = options.getEnvironment();
    if (environment != null) {
      builder.environment(environment);
    }
    Path root = root(options);
    if (root != null) {
      builder.directory(root);
    }
    // Inside of maps and lists too: Sentry's objects have no useful toString.
    builder.form(io.sentry.JsonSerializable.class, SentryForms::of);
    return builder.open();
  }

  static String app(SentryOptions options) {
    String app = setting("cairn.app", "CAIRN_APP");
    String release = options.getRelease();
    if (app == null && release != null && release.indexOf('@') > 0) {
      app = release.substring(0, release.indexOf('@'));
    }
    return app == null || app.isBlank() || app.length() > MAX_APP_LENGTH ? DEFAULT_APP : app;
  }

  private static int trailBytes(int maxBreadcrumbs) {
    long wanted = (long) maxBreadcrumbs * BYTES_PER_BREADCRUMB;
    int bytes = TRAIL_BYTES;
    while (bytes < wanted && bytes < MAX_TRAIL_BYTES) {
      bytes *= 2;
    }
    return bytes;
  }

  /** {@return the root directory; null for the recorder's default} */
  private static @Nullable Path root(SentryOptions options) {
    String cache = options.getCacheDirPath();
    if (cache == null || setting("cairn.dir", "CAIRN_DIR") != null) {
      return null;
    }
    try {
      Path path = Path.of(cache);
      Path name = path.getFileName();
      Path parent = path.getParent();
      boolean isOfDsn =
          name != null && SentryFiles.DSN_DIRECTORY.matcher(name.toString()).matches();
      return (isOfDsn && parent != null ? parent : path).resolve("cairn");
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static @Nullable String setting(String property, String variable) {
    String value = System.getProperty(property);
    if (value == null || value.isBlank()) {
      value = System.getenv(variable);
    }
    return value == null || value.isBlank() ? null : value.strip();
  }

  /** {@return what an event needs of the options, by the names that ReportEvent knows} */
  static Map<String, Object> options(SentryOptions options) {
    Map<String, Object> all = new LinkedHashMap<>();
    put(all, "release", options.getRelease());
    put(all, "environment", options.getEnvironment());
    put(all, "dist", options.getDist());
    put(all, "server_name", options.getServerName());
    SdkVersion sdk = options.getSdkVersion();
    if (sdk != null) {
      all.put("sdk", Map.of("name", sdk.getName(), "version", sdk.getVersion()));
    }
    Map<String, String> tags = options.getTags();
    if (tags != null && !tags.isEmpty()) {
      all.put("tags", new LinkedHashMap<>(tags));
    }
    return all;
  }

  private static void put(Map<String, Object> all, String name, @Nullable String value) {
    if (value != null) {
      all.put(name, value);
    }
  }
}
