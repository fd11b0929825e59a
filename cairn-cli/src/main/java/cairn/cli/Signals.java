package cairn.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Signals to this process that are caught instead of ending it, until {@link #close}.
 *
 * <p>What the JVM does not give away stays as it is: SIGQUIT is its own, and a signal that was
 * ignored when it started (nohup) stays ignored. By reflection, since {@code sun.misc.Signal} is in
 * a module that a JVM need not have; without it nothing is caught.
 */
final class Signals implements AutoCloseable {
  private static final String SIGNAL = "sun.misc.Signal";
  private static final String HANDLER = "sun.misc.SignalHandler";

  /** A signal and who had it before. */
  private record Caught(Object signal, Object before) {}

  private final List<Caught> caught = new ArrayList<>();

  private Signals() {}

  /**
   * Catches these signals.
   *
   * @param names without SIG
   * @param receiver gets the name; on a thread of the JVM's, one for each signal that comes
   */
  static Signals catching(List<String> names, Consumer<String> receiver) {
    Signals signals = new Signals();
    for (String name : names) {
      try {
        Class<?> type = Class.forName(SIGNAL);
        Object signal = type.getConstructor(String.class).newInstance(name);
        Object before = handle(signal, handler(name, receiver));
        if (before != null) {
          signals.caught.add(new Caught(signal, before));
        }
      } catch (ReflectiveOperationException e) {
        // Not to be had: it does what it always did.
      }
    }
    return signals;
  }

  private static Object handler(String name, Consumer<String> receiver)
      throws ClassNotFoundException {
    InvocationHandler invoked =
        new InvocationHandler() {
          @Override
          public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) {
            return switch (method.getName()) {
              case "handle" -> {
                receiver.accept(name);
                yield null;
              }
              case "equals" -> args != null && args[0] == proxy;
              case "hashCode" -> System.identityHashCode(proxy);
              default -> "handler of SIG" + name;
            };
          }
        };
    return Proxy.newProxyInstance(
        Signals.class.getClassLoader(), new Class<?>[] {Class.forName(HANDLER)}, invoked);
  }

  private static @Nullable Object handle(Object signal, Object handler)
      throws ReflectiveOperationException {
    try {
      return Class.forName(SIGNAL)
          .getMethod("handle", Class.forName(SIGNAL), Class.forName(HANDLER))
          .invoke(null, signal, handler);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IllegalArgumentException) {
        return null; // the JVM or the system has it
      }
      throw e;
    }
  }

  /** Gives the signals back. */
  @Override
  public void close() {
    for (Caught one : caught) {
      try {
        handle(one.signal(), one.before());
      } catch (ReflectiveOperationException e) {
        // It was to be had before; what is left is a handler that nobody needs.
      }
    }
    caught.clear();
  }
}
