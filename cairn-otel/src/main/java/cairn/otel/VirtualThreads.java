package cairn.otel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/** Whether the calling thread is a virtual one. Platform threads before JDK 21 all are not. */
final class VirtualThreads {
  // Static and final, so that the JIT sees through it.
  private static final @Nullable MethodHandle IS_VIRTUAL = isVirtual();

  private VirtualThreads() {}

  private static @Nullable MethodHandle isVirtual() {
    if (Runtime.version().feature() < 21) {
      return null; // nor are there lookups that fail to pay for
    }
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (NoSuchMethodException | IllegalAccessException e) {
      return null;
    }
  }

  static boolean isVirtual(Thread thread) {
    MethodHandle method = IS_VIRTUAL;
    if (method == null) {
      return false;
    }
    try {
      return (boolean) method.invokeExact(thread);
    } catch (Throwable e) {
      throw new AssertionError(e); // it declares nothing
    }
  }
}
