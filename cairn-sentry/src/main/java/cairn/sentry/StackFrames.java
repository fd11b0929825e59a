package cairn.sentry;

import io.sentry.protocol.SentryStackFrame;
import io.sentry.protocol.SentryStackTrace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Frames as {@link StackTraceElement#toString} gives them, as those of Sentry. */
final class StackFrames {
  private static final List<String> PLATFORM = List.of("java.", "javax.", "jdk.", "sun.");

  private StackFrames() {}

  /**
   * {@return them as Sentry wants them}
   *
   * @param frames innermost first
   */
  static SentryStackTrace trace(List<String> frames) {
    List<SentryStackFrame> converted = new ArrayList<>(frames.size());
    frames.forEach(frame -> converted.add(frame(frame)));
    Collections.reverse(converted); // Sentry has the innermost last
    return new SentryStackTrace(converted);
  }

  /** {@return {@code [loader/][module[@version]/]class.method(place)} in its parts} */
  static SentryStackFrame frame(String text) {
    SentryStackFrame frame = new SentryStackFrame();
    int open = text.lastIndexOf('(');
    int close = text.lastIndexOf(')');
    String name = open < 0 ? text : text.substring(0, open);
    int dot = name.lastIndexOf('.');
    frame.setFunction(name.substring(dot + 1));
    if (dot > 0) {
      String module = className(name.substring(0, dot));
      frame.setModule(module);
      if (PLATFORM.stream().anyMatch(module::startsWith)) {
        frame.setInApp(false);
      }
    }
    if (open >= 0 && close > open) {
      place(frame, text.substring(open + 1, close));
    }
    return frame;
  }

  /** {@return the class} A hidden one ends with an address, which is another in each process. */
  private static String className(String name) {
    String rest = name;
    int slash = rest.lastIndexOf('/');
    if (slash > 0 && rest.startsWith("0x", slash + 1)) {
      rest = rest.substring(0, slash);
      slash = rest.lastIndexOf('/');
    }
    return rest.substring(slash + 1);
  }

  private static void place(SentryStackFrame frame, String place) {
    if (place.equals("Native Method")) {
      frame.setNative(true);
      return;
    }
    if (place.equals("Unknown Source")) {
      return;
    }
    int colon = place.lastIndexOf(':');
    String line = place.substring(colon + 1);
    boolean isLine =
        colon > 0
            && !line.isEmpty()
            && line.length() <= 9
            && line.chars().allMatch(c -> c >= '0' && c <= '9');
    if (isLine) {
      frame.setLineno(Integer.valueOf(line));
    }
    frame.setFilename(isLine ? place.substring(0, colon) : place);
  }
}
