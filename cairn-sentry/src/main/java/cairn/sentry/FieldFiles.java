package cairn.sentry;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A folder of files that hold one JSON value each: the scope's fields, or the options.
 *
 * <p>The SDK empties such a file and then writes it, so a death between leaves an empty one, or the
 * beginning of the value. It deletes the file of a field that is not set.
 */
final class FieldFiles {
  static final String SUFFIX = ".json";
  static final List<String> SCOPE =
      List.of(
          "user",
          "breadcrumbs",
          "tags",
          "extras",
          "contexts",
          "request",
          "level",
          "environment",
          "fingerprint",
          "transaction",
          "trace",
          "replay");
  static final List<String> OPTIONS =
      List.of(
          "release",
          "dist",
          "environment",
          "sdk-version",
          "proguard-uuid",
          "tags",
          "replay-error-sample-rate");

  private final boolean isThere;
  private final Map<String, @Nullable Object> values = new HashMap<>();
  private final Set<String> damaged = new HashSet<>();

  private FieldFiles(boolean isThere) {
    this.isThere = isThere;
  }

  /**
   * Reads the fields, but for the trail.
   *
   * @param name of the folder; empty for the directory itself, null for none
   */
  static FieldFiles read(CacheFolder folder, @Nullable String name, List<String> fields) {
    if (name == null || !folder.has(name)) {
      return new FieldFiles(false);
    }
    if (!folder.isFolder(name)) {
      folder.warning(name, "is no directory, or a symbolic link, and is not read");
      return new FieldFiles(false);
    }
    FieldFiles files = new FieldFiles(true);
    String prefix = name.isEmpty() ? "" : name + "/";
    for (String field : fields) {
      if (!field.equals("breadcrumbs")) {
        files.read(folder, prefix + field + SUFFIX, field);
      }
    }
    for (String file : folder.names(name)) {
      boolean isField =
          file.endsWith(SUFFIX)
              && fields.contains(file.substring(0, file.length() - SUFFIX.length()));
      if (!isField && !name.isEmpty()) {
        folder.info(prefix + file, "file is unknown to this version and not read");
      }
    }
    return files;
  }

  private void read(CacheFolder folder, String file, String field) {
    byte[] bytes = folder.read(file);
    if (bytes == null) {
      if (folder.has(file)) {
        damaged.add(field);
      }
      return;
    }
    if (bytes.length == 0) {
      damaged.add(field);
      folder.warning(
          file,
          "file is empty: offset=0 (its writer died after it had emptied it, or the disk was full)");
      return;
    }
    SalvagedJson json = SalvagedJson.of(bytes);
    Object value = json.value();
    if (json.damage() != null) {
      damaged.add(field);
      int kept = value instanceof Map<?, ?> map ? map.size() : SentryValues.list(value).size();
      folder.warning(
          file,
          "value is torn or damaged: "
              + json.damage()
              + ", offset="
              + json.damageOffset()
              + ", size="
              + bytes.length
              + ", entries before it="
              + kept);
      boolean isContainer = value instanceof Map || value instanceof List;
      if (isContainer && kept == 0) {
        return;
      }
    }
    if (value != null) {
      values.put(field, value);
    }
  }

  /** {@return whether there is such a folder} */
  boolean isThere() {
    return isThere;
  }

  /** {@return whether no value means that none was set} */
  boolean isKnown(String field) {
    return isThere && !(damaged.contains(field) && !values.containsKey(field));
  }

  @Nullable Object value(String field) {
    return values.get(field);
  }

  @Nullable String text(String field) {
    return values.get(field) instanceof String text ? text : null;
  }

  /** {@return the object of that field; empty if it is none} */
  Map<String, @Nullable Object> object(String field) {
    Map<String, @Nullable Object> object = SentryValues.object(values.get(field));
    return object == null ? Map.of() : object;
  }
}
