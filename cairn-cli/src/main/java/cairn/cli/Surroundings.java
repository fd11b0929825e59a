package cairn.cli;

import java.io.InputStream;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * What a command sees of the process and the machine; tests put their own in its place.
 *
 * @param variables environment variables
 * @param properties system properties
 * @param systemRoot where {@code proc} and {@code sys} are found
 * @param clock for ages
 * @param pause waits between two looks at a living run
 * @param keyboard what a person types meanwhile
 */
record Surroundings(
    Map<String, String> variables,
    Properties properties,
    Path systemRoot,
    Clock clock,
    Pause pause,
    Keyboard keyboard) {

  /** Waits. */
  interface Pause {
    /**
     * Waits for about that long.
     *
     * @throws InterruptedException if the thread was interrupted
     */
    void await(Duration duration) throws InterruptedException;
  }

  /** Where a person can say something while a command works. */
  interface Keyboard {
    /** {@return what is typed, a line at a time; null off a terminal} */
    @Nullable InputStream open();
  }

  static Surroundings ofThisProcess() {
    return new Surroundings(
        System.getenv(),
        System.getProperties(),
        Path.of("/"),
        Clock.systemUTC(),
        new Pause() {
          @Override
          public void await(Duration duration) throws InterruptedException {
            Thread.sleep(duration.toMillis());
          }
        },
        new Keyboard() {
          @Override
          public @Nullable InputStream open() {
            return Terminal.isPresent() ? System.in : null;
          }
        });
  }

  /**
   * {@return the property {@code cairn.<name>}, else the variable {@code CAIRN_<NAME>}, else null;
   * an empty one counts as unset}
   *
   * @param name such as {@code older-than}
   */
  @Nullable String setting(String name) {
    String property = properties.getProperty(propertyName(name));
    if (property != null && !property.isEmpty()) {
      return property;
    }
    String variable = variables.get(variableName(name));
    return variable == null || variable.isEmpty() ? null : variable;
  }

  static String propertyName(String name) {
    return "cairn." + name;
  }

  static String variableName(String name) {
    StringBuilder variable = new StringBuilder("CAIRN_");
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      variable.append(c == '-' ? '_' : Character.toUpperCase(c));
    }
    return variable.toString();
  }
}
