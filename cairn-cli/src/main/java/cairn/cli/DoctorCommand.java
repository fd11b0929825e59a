package cairn.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn doctor}. */
final class DoctorCommand implements Callable<Integer> {
  private final Session session;

  private final CommonOptions common;
  private final OptionSpec json = Options.flag("print a JSON array", "--json");

  DoctorCommand(Session session) {
    this.session = session;
    this.common = new CommonOptions(session.surroundings, session.top);
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "doctor",
            this,
            new String[] {"Checks what recording and explaining depend on here. Changes nothing."},
            new String[] {
              "Run it as the user and in the container that the application runs in.",
              "",
              "Exit codes: 0 no problem (maybe warnings), 1 a problem, 2 wrong usage",
              "",
              "Examples:",
              "  cairn doctor                 the directory that a Recorder would use",
              "  cairn doctor --dir /data/cairn",
              "  cairn doctor --json | jq -r '.[] | select(.status != \"ok\") | .remedy'"
            });
    spec.addOption(json);
    common.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() {
    List<Check> checks = checks();
    if (Options.isSet(json)) {
      printJson(checks);
    } else {
      printText(checks);
    }
    return count(checks, Check.Status.PROBLEM) == 0 ? ExitCode.OK : ExitCode.FOUND;
  }

  private List<Check> checks() {
    RootChecks root = new RootChecks(common.root());
    MachineChecks machine = new MachineChecks(session.surroundings);
    List<Check> checks = new ArrayList<>();
    checks.add(root.directory());
    addIfAny(checks, root.permissions());
    checks.add(root.fileSystem());
    checks.add(root.freeSpace());
    addIfAny(checks, root.runs());
    addIfAny(checks, machine.mode());
    checks.add(machine.java());
    checks.add(machine.memory());
    checks.add(machine.oomCounter());
    addIfAny(checks, machine.oomGroup());
    checks.add(machine.heapExhaustion());
    checks.add(machine.crashFile());
    checks.add(machine.corePattern());
    return checks;
  }

  private static void addIfAny(List<Check> checks, @Nullable Check check) {
    if (check != null) {
      checks.add(check);
    }
  }

  private void printText(List<Check> checks) {
    for (Check check : checks) {
      session.out.println(
          String.format(Locale.ROOT, "%-8s %-13s", status(check), check.name())
              + Escape.line(check.text()));
      if (!check.remedy().isEmpty()) {
        session.out.println(" ".repeat(22) + "-> " + Escape.line(check.remedy()));
      }
    }
    int problems = count(checks, Check.Status.PROBLEM);
    int warnings = count(checks, Check.Status.WARN);
    session.out.println();
    session.out.println(counted(problems, "problem") + ", " + counted(warnings, "warning"));
  }

  private void printJson(List<Check> checks) {
    List<Map<String, String>> rows = new ArrayList<>();
    for (Check check : checks) {
      Map<String, String> row = new LinkedHashMap<>();
      row.put("check", check.name());
      row.put("status", status(check));
      row.put("text", check.text());
      if (!check.remedy().isEmpty()) {
        row.put("remedy", check.remedy());
      }
      rows.add(row);
    }
    session.out.println(Json.lines(rows));
  }

  private static String status(Check check) {
    return check.status().name().toLowerCase(Locale.ROOT);
  }

  private static int count(List<Check> checks, Check.Status status) {
    int count = 0;
    for (Check check : checks) {
      if (check.status() == status) {
        count++;
      }
    }
    return count;
  }

  private static String counted(int count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }
}
