package cairn.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/** Runs the command in this process, in surroundings of its own. */
final class Cli {
  final Map<String, String> variables = new HashMap<>();
  final Properties properties = new Properties();
  Path systemRoot = Path.of("/");
  Clock clock = Clock.systemUTC();
  Step pause =
      () -> {
        throw new AssertionError("nothing to wait for");
      };

  /** What happens while the command waits; interrupts it to end it. */
  interface Step {
    void run() throws InterruptedException;
  }

  /** What a person types; null off a terminal. */
  InputStream keyboard;

  /** What a command said and how it exited. */
  record Result(int exitCode, String out, String err) {
    JsonNode json() {
      return json(out);
    }

    static JsonNode json(String text) {
      try {
        return new ObjectMapper().readTree(text);
      } catch (JsonProcessingException e) {
        throw new AssertionError(text, e);
      }
    }
  }

  Cli(Path home) {
    properties.setProperty("user.home", home.toString());
    properties.setProperty("java.version", "17.0.1");
    properties.setProperty("java.vendor", "Nobody");
    properties.setProperty("java.io.tmpdir", "/tmp");
    properties.setProperty("os.name", "Linux");
  }

  Surroundings surroundings() {
    return new Surroundings(
        variables,
        properties,
        systemRoot,
        clock,
        (Duration duration) -> pause.run(),
        () -> keyboard);
  }

  Result run(Object... words) {
    String[] args = new String[words.length];
    for (int i = 0; i < words.length; i++) {
      args[i] = words[i].toString();
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int exitCode = Main.run(args, out, err, surroundings());
    return new Result(
        exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }
}
