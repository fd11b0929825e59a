package cairn.stress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A library that sets the wall clock of a process, and of no other, {@link #AFTER_MILLIS} after its
 * start, as when a clock that was wrong is corrected. Needs a C compiler. Immutable.
 */
final class SteppedClock {
  static final long AFTER_MILLIS = 400;

  private static final String SOURCE =
      """
      #define _GNU_SOURCE
      #include <stdlib.h>
      #include <sys/syscall.h>
      #include <sys/time.h>
      #include <time.h>
      #include <unistd.h>

      static long long began;

      static long long monotonicMillis(void) {
        struct timespec now;
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
      }

      __attribute__((constructor)) static void begin(void) {
        began = monotonicMillis();
      }

      int clock_gettime(clockid_t clock, struct timespec *time) {
        int result = syscall(SYS_clock_gettime, clock, time);
        const char *step = getenv("CAIRN_STRESS_STEP");
        if (result == 0 && clock == CLOCK_REALTIME && step != NULL
            && monotonicMillis() - began >= %d) {
          time->tv_sec += atoll(step);
        }
        return result;
      }

      int gettimeofday(struct timeval *time, void *zone) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        time->tv_sec = now.tv_sec;
        time->tv_usec = now.tv_nsec / 1000;
        return 0;
      }
      """
          .formatted(AFTER_MILLIS);

  private final Path library;

  private SteppedClock(Path library) {
    this.library = library;
  }

  /**
   * Compiles it.
   *
   * @param directory gets it
   * @return empty if there is no compiler
   */
  static Optional<SteppedClock> compile(Path directory) throws IOException, InterruptedException {
    Path source = Files.writeString(directory.resolve("clock.c"), SOURCE);
    Path library = directory.resolve("clock.so");
    try {
      int status =
          Dying.run(
              List.of(
                  "cc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source.toString()));
      return status == 0 ? Optional.of(new SteppedClock(library)) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** {@return the shell command after which processes get that clock} */
  String stepBy(long seconds) {
    return "export CAIRN_STRESS_STEP=" + seconds + " LD_PRELOAD='" + library + "'";
  }
}
