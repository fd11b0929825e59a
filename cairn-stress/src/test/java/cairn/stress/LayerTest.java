package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;

class LayerTest {
  private static final Pattern PACKAGE_LINE =
      Pattern.compile("\\s+(cairn[\\w.]*)\\s+-> (cairn[\\w.]*)\\s.*");

  /**
   * What each package may use; the journal takes its durability from the recorder's package. {@code
   * Recorder.lastRun} gives a report: so the recorder uses {@code cairn.report}, in four classes.
   */
  private static final Map<String, Set<String>> ALLOWED =
      Map.of(
          "cairn.format", Set.of(),
          "cairn.storage", Set.of("cairn.format"),
          "cairn", Set.of("cairn.format", "cairn.storage", "cairn.report"),
          "cairn.journal", Set.of("cairn", "cairn.format", "cairn.storage"),
          "cairn.report", Set.of("cairn", "cairn.format", "cairn.storage"));

  @Test
  void packagesOfTheCoreUseEachOtherInOneDirectionOnly() throws Exception {
    Map<String, Set<String>> uses = new TreeMap<>();
    Matcher matcher = PACKAGE_LINE.matcher("");
    for (String line : jdeps("-verbose:package", "--multi-release", "base")) {
      if (matcher.reset(line).matches()) {
        uses.computeIfAbsent(matcher.group(1), key -> new TreeSet<>()).add(matcher.group(2));
      }
    }

    assertThat(uses).containsKeys("cairn", "cairn.report");
    uses.forEach(
        (user, used) -> {
          assertThat(ALLOWED).containsKey(user);
          used.remove(user);
          assertThat(ALLOWED.get(user)).as("used by " + user).containsAll(used);
        });
  }

  @Test
  void coreNeedsFourModulesOfTheJdkAndNothingElse() throws Exception {
    Set<String> modules = new TreeSet<>();
    for (String line :
        jdeps(
            "-verbose:class",
            "--multi-release",
            "base",
            "--add-modules",
            "jdk.management,java.logging")) {
      String[] words = line.strip().split("\\s+");
      boolean isUse = line.startsWith("  ") && words.length >= 4 && words[1].equals("->");
      // The JSpecify annotations are read by compilers only, and are not there at run time.
      if (isUse && !words[2].startsWith("cairn.") && !words[2].startsWith("org.jspecify.")) {
        modules.add(words[3]);
      }
    }

    assertThat(modules)
        .isSubsetOf("java.base", "java.logging", "java.management", "jdk.management")
        .contains("java.base");
  }

  private static String[] jdeps(String... options) throws URISyntaxException {
    Path core = Path.of(Recorder.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    ToolProvider jdeps = ToolProvider.findFirst("jdeps").orElseThrow();
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] arguments = new String[options.length + 1];
    System.arraycopy(options, 0, arguments, 0, options.length);
    arguments[options.length] = core.toString();
    int status = jdeps.run(new PrintWriter(out), new PrintWriter(err), arguments);
    assertThat(status).as(out + "\n" + err).isZero();
    return out.toString().lines().toArray(String[]::new);
  }
}
