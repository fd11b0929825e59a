package cairn.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;

/**
 * The directories whose lock this JVM holds, known to all class loaders in it.
 *
 * <p>Any thread. POSIX locks belong to the process and go with any descriptor of the file, so
 * nobody in this JVM may open such a lock file: closing it would make the owner look dead.
 */
public final class HeldDirectories {
  /*
   * A text in the system properties, since whoever stores those expects texts, and since it is the
   * one place that class loaders share: absolute paths, each followed by a line feed.
   */
  public static final String KEY = "cairn.held";

  /**
   * {@return what whoever opens a lock file synchronises on} From the look whether this JVM holds
   * it until it is closed again, or held. The same object for all class loaders, as string
   * constants are.
   */
  public static Object monitor() {
    return KEY;
  }

  /** Notes that this JVM holds that directory; its real path. */
  public static void hold(Path directory) {
    Properties properties = System.getProperties();
    synchronized (properties) {
      properties.setProperty(KEY, lines(properties) + line(directory));
    }
  }

  /**
   * As {@link #hold}, unless it is held.
   *
   * @return whether it was free
   */
  public static boolean tryHold(Path directory) {
    Properties properties = System.getProperties();
    synchronized (properties) {
      if (contains(lines(properties), directory)) {
        return false;
      }
      hold(directory);
      return true;
    }
  }

  /** Notes that this JVM no longer holds it. */
  public static void release(Path directory) {
    Properties properties = System.getProperties();
    synchronized (properties) {
      // Each path between its line feeds: no path is taken out of the end of another.
      String lines = "\n" + lines(properties);
      properties.setProperty(KEY, lines.replace("\n" + line(directory), "\n").substring(1));
    }
  }

  /** {@return whether this JVM holds that directory; any path to it} */
  public static boolean isHeld(Path directory) {
    Path real;
    try {
      real = directory.toRealPath();
    } catch (IOException | SecurityException e) {
      real = directory.toAbsolutePath();
    }
    return contains(System.getProperty(KEY, ""), real);
  }

  private static boolean contains(String lines, Path directory) {
    return ("\n" + lines).contains("\n" + line(directory));
  }

  private static String lines(Properties properties) {
    return properties.getProperty(KEY, "");
  }

  private static String line(Path directory) {
    return directory.toString() + '\n';
  }

  private HeldDirectories() {}
}
