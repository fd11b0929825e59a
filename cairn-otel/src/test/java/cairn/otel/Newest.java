package cairn.otel;

import cairn.otel.Pipeline.Maker;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.resources.Resource;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tests say what the newest OpenTelemetry does, which they are compiled against, and run with
 * older ones too. Cairn behaves the same on all of them; the SDK, and what the API has, does not.
 * What is left out for that is printed.
 */
final class Newest {
  private static final int MINOR = 68;
  private static final String VERSION =
      String.valueOf(
          Resource.getDefault().getAttribute(AttributeKey.stringKey("telemetry.sdk.version")));

  private Newest() {}

  /** {@return whether the SDK that runs is older than what the tests say of it} */
  static boolean isNotHere() {
    Matcher version = Pattern.compile("1\\.(\\d+)\\..*").matcher(VERSION);
    if (!version.matches()) {
      throw new IllegalStateException("version of the SDK is unknown: version=" + VERSION);
    }
    return Integer.parseInt(version.group(1)) < MINOR;
  }

  /**
   * {@return whether the SDK is asked, and is older than what is said of it}
   *
   * @param what the SDK does since, printed
   */
  static boolean isNotThatOf(Maker maker, String what) {
    return maker == Maker.SDK && isNotHere() && print(what);
  }

  /** {@return true, having said aloud what is left out} */
  static boolean print(String what) {
    System.out.println("NOT COMPARED: SDK " + VERSION + " is older than 1." + MINOR + ": " + what);
    return true;
  }

  /** {@return whether the tracer says that it is enabled; true of an SDK that cannot say} */
  static boolean isEnabled(Tracer tracer) {
    try {
      return tracer.isEnabled();
    } catch (NoSuchMethodError e) {
      return tracer instanceof RecordingTracer recording
          ? recording.isEnabled()
          : print("a tracer says whether it is enabled");
    }
  }
}
