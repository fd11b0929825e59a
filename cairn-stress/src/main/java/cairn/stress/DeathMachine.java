package cairn.stress;

import cairn.stress.Death.Needs;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which deaths can be had on this machine. Immutable; any thread. */
final class DeathMachine {
  private final Map<Needs, List<Jdk>> jdks = new EnumMap<>(Needs.class);

  /**
   * Tries out what it can.
   *
   * @param out gets a line for each thing that it can't
   */
  DeathMachine(List<Jdk> installed, Optional<SteppedClock> clock, PrintStream out)
      throws InterruptedException {
    for (Needs needs : Needs.values()) {
      List<Jdk> able = new ArrayList<>();
      String refusal = null;
      if (needs == Needs.VIRTUAL_THREADS || needs == Needs.FOREIGN_FUNCTIONS) {
        int first =
            needs == Needs.VIRTUAL_THREADS
                ? Jdk.FIRST_WITH_VIRTUAL_THREADS
                : Jdk.FIRST_WITH_FOREIGN_FUNCTIONS;
        installed.stream().filter(jdk -> jdk.feature() >= first).forEach(able::add);
        if (able.isEmpty()) {
          refusal = "no Java " + first + " or later beside " + installed.get(0).home();
        }
      } else {
        refusal =
            needs == Needs.COMPILER && clock.isEmpty() ? "no C compiler called cc" : refusal(needs);
        if (refusal == null) {
          able.addAll(installed);
        }
      }
      jdks.put(needs, able);
      if (refusal != null) {
        out.println("NOT RUN, what needs " + needs + ": " + refusal);
      }
    }
  }

  List<Jdk> jdksFor(Death death) {
    return jdks.getOrDefault(death.needs, List.of());
  }

  private static String refusal(Needs needs) throws InterruptedException {
    return switch (needs) {
      case MEMORY_GROUP -> MemoryGroup.refusal().orElse(null);
      case PID_NAMESPACE -> refusal("unshare", "--pid", "--fork", "--mount-proc", "true");
      case MOUNT_NAMESPACE ->
          refusal(
              "unshare",
              "--mount",
              "--uts",
              "sh",
              "-c",
              "hostname another-machine && mount --bind /proc/version"
                  + " /proc/sys/kernel/random/boot_id");
      case TIME_NAMESPACE -> refusal("unshare", "--time", "--fork", "--monotonic", "1", "true");
      default -> refusal("kill", "-0", Long.toString(ProcessHandle.current().pid()));
    };
  }

  private static String refusal(String... command) throws InterruptedException {
    try {
      int status = Dying.run(List.of(command));
      return status == 0 ? null : String.join(" ", command) + ": status=" + status;
    } catch (IOException e) {
      return e.toString();
    }
  }
}
