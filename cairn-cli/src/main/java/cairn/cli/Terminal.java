package cairn.cli;

import java.io.Console;
import java.lang.reflect.InvocationTargetException;

/** Whether somebody is looking. */
final class Terminal {
  private Terminal() {}

  /** {@return whether stdin and stdout are a terminal} */
  @SuppressWarnings("SystemConsoleNull") // Asks for the null of Java 17 to 21 and for the rest.
  static boolean isPresent() {
    Console console = System.console();
    if (console == null) {
      return false;
    }
    try {
      // Java 22 and later have a console off a terminal too, and this method to tell.
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (NoSuchMethodException e) {
      return true;
    } catch (IllegalAccessException | InvocationTargetException e) {
      return false;
    }
  }
}
