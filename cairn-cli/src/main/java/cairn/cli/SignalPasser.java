package cairn.cli;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Passes the signals that this process gets on to its child, and lives on. */
final class SignalPasser implements AutoCloseable {
  static final List<String> NAMES = List.of("TERM", "INT", "HUP", "USR1", "USR2");

  private final Signals signals;
  private final Set<String> received = new LinkedHashSet<>();

  /** Came before there was a child. */
  private final List<String> waiting = new ArrayList<>();

  private @Nullable Process child;

  SignalPasser() {
    this.signals = Signals.catching(NAMES, this::receive);
  }

  /** From now on signals go to this child; those that came before go now. */
  synchronized void to(Process process) {
    child = process;
    for (String name : waiting) {
      pass(process, name);
    }
    waiting.clear();
  }

  private synchronized void receive(String name) {
    received.add(name);
    if (child == null) {
      waiting.add(name);
    } else {
      pass(child, name);
    }
  }

  /** {@return whether this process got that signal, and so the child too} */
  synchronized boolean hasReceived(String name) {
    return received.contains(name);
  }

  private static void pass(Process process, String name) {
    // Its pid is its own until this process has waited for it.
    if (!process.isAlive() || (name.equals("INT") && isAtTerminal(process.pid()))) {
      return;
    }
    if (name.equals("TERM")) {
      process.toHandle().destroy();
      return;
    }
    try {
      new ProcessBuilder(
              "/bin/sh", "-c", "kill -s \"$0\" \"$1\"", name, Long.toString(process.pid()))
          .redirectInput(Redirect.from(new File("/dev/null")))
          .redirectOutput(Redirect.DISCARD)
          .redirectError(Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      // No shell, or no memory for it: the next signal may go through.
    }
  }

  /**
   * {@return whether that process is in the foreground of a terminal} Then Ctrl-C has reached it
   * already: a terminal interrupts its whole foreground group.
   */
  private static boolean isAtTerminal(long pid) {
    try {
      String stat =
          Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
      // Behind the name: state, parent, group, session, terminal, foreground group of the terminal.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
      return fields.length > 5 && !fields[4].equals("0") && fields[2].equals(fields[5]);
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    signals.close();
  }
}
