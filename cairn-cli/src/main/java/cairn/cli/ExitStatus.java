package cairn.cli;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What an exit status says, as a parent sees it: 128 and more may be a signal. */
final class ExitStatus {
  /** As a shell has it: the command is there and cannot be run. */
  static final int NOT_RUNNABLE = 126;

  /** As a shell has it: there is no such command. */
  static final int NOT_FOUND = 127;

  private static final int SIGNALLED = 128;

  private static final Map<Integer, String> SIGNALS =
      Map.ofEntries(
          Map.entry(1, "HUP"),
          Map.entry(2, "INT"),
          Map.entry(3, "QUIT"),
          Map.entry(4, "ILL"),
          Map.entry(5, "TRAP"),
          Map.entry(6, "ABRT"),
          Map.entry(7, "BUS"),
          Map.entry(8, "FPE"),
          Map.entry(9, "KILL"),
          Map.entry(10, "USR1"),
          Map.entry(11, "SEGV"),
          Map.entry(12, "USR2"),
          Map.entry(13, "PIPE"),
          Map.entry(14, "ALRM"),
          Map.entry(15, "TERM"),
          Map.entry(24, "XCPU"),
          Map.entry(25, "XFSZ"),
          Map.entry(31, "SYS"));

  private ExitStatus() {}

  /** {@return the name of the signal that such a status stands for, without SIG; null if none} */
  static @Nullable String signal(int status) {
    return SIGNALS.get(status - SIGNALLED);
  }

  /** {@return who or what a status may come from, in words; empty if it says nothing more} */
  static String inWords(int status) {
    String signal = signal(status);
    return signal == null
        ? ""
        : "SIG" + signal + ", or exit(" + status + "), or a shell whose command died so";
  }
}
