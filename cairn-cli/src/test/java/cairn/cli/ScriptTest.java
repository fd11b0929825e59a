package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/cairn} in a tree of its own, with a {@code mvn} and a {@code java} that only note. */
class ScriptTest {
  @TempDir Path temp;
  private Path repo;
  private Path fakes;
  private Path builds;
  private Path source;

  @BeforeEach
  void setUp() throws IOException {
    repo = Files.createDirectory(temp.resolve("re po"));
    fakes = Files.createDirectory(temp.resolve("fakes"));
    builds = Files.createFile(temp.resolve("builds"));
    Files.createDirectories(repo.resolve("bin"));
    Files.copy(script(), repo.resolve("bin/cairn"));
    Files.writeString(repo.resolve("pom.xml"), "<project/>");
    for (String module : List.of("cairn-core", "cairn-otel", "cairn-cli", "cairn-demo")) {
      Path main = Files.createDirectories(repo.resolve(module).resolve("src/main"));
      source = Files.writeString(main.resolve("A.java"), "class A {}");
      Files.writeString(repo.resolve(module).resolve("pom.xml"), "<project/>");
    }
    fake(
        "java",
        "case $* in *-version*) echo 'openjdk version \"17.0.1\"' >&2;; "
            + "*-Xshare:dump*|*DumpLoadedClassList*) exit 1;; "
            + "*) for word; do printf '<%s>' \"$word\"; done; echo; echo \"LC_ALL=$LC_ALL\";; esac");
    fake(
        "mvn",
        "echo \"$*\" >>'"
            + builds
            + "'; mkdir -p cairn-cli/target cairn-demo/target; "
            + "echo jar >cairn-cli/target/cairn.jar; echo jar >cairn-demo/target/cairn-demo.jar");
  }

  private static Path script() {
    Path module = Path.of("").toAbsolutePath();
    Path script = module.resolve("../bin/cairn").normalize();
    assertThat(script).exists();
    return script;
  }

  private void fake(String name, String body) throws IOException {
    executable(fakes.resolve(name), body);
  }

  private static void executable(Path file, String body) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  private Process start(Path script, String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("/bin/sh", script.toString()));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    // What the script needs beside java and mvn, and nothing else.
    builder.environment().put("PATH", fakes + File.pathSeparator + tools());
    builder.environment().put("CAIRN_JAVA_OPTS", "-Dcairn.dir=/x -Xmx1g");
    return builder.directory(temp.toFile()).start();
  }

  private Path tools() throws IOException {
    Path tools = temp.resolve("tools");
    if (!Files.exists(tools)) {
      Files.createDirectory(tools);
      for (String tool :
          List.of(
              "cat",
              "cp",
              "dirname",
              "find",
              "head",
              "mkdir",
              "mv",
              "readlink",
              "rm",
              "sed",
              "sleep",
              "touch")) {
        for (String bin : List.of("/usr/bin", "/bin")) {
          Path real = Path.of(bin, tool);
          if (Files.exists(real)) {
            executable(tools.resolve(tool), "exec " + real + " \"$@\"");
          }
        }
      }
    }
    return tools;
  }

  private Cli.Result run(Path script, String... words) throws Exception {
    return await(start(script, words));
  }

  private static Cli.Result await(Process process) throws Exception {
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Cli.Result(
        process.exitValue(),
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8),
        new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
  }

  private Path cairn() {
    return repo.resolve("bin/cairn");
  }

  private long builds() throws IOException {
    try (var lines = Files.lines(builds)) {
      return lines.count();
    }
  }

  @Test
  void theFirstUseBuildsSayingSoAndTheSecondDoesNot() throws Exception {
    Cli.Result first = run(cairn(), "list");
    Cli.Result second = run(cairn(), "list");

    assertThat(first.exitCode()).as(first.err()).isZero();
    assertThat(first.err()).startsWith("cairn: building, once: dir=" + repo).hasLineCount(1);
    assertThat(builds)
        .hasContent(
            "-q -B -Dstyle.color=never -Dspotless.check.skip -DskipTests"
                + " -pl cairn-cli,cairn-demo -am package");
    assertThat(second.err()).isEmpty();
    assertThat(second.out()).isEqualTo(first.out());
  }

  @Test
  void javaGetsTheOptionsTheJarTheDemoAndTheArgumentsAsTheyWere() throws Exception {
    Cli.Result result = run(cairn(), "why", "a b", "", "*");

    assertThat(result.out())
        .contains("<-XX:+UseSerialGC><-XX:TieredStopAtLevel=1><-Xshare:auto>")
        .contains("<-Dcairn.demo.jar=" + repo + "/cairn-demo/target/cairn-demo.jar>")
        .contains("<-Dcairn.dir=/x><-Xmx1g>")
        .contains("<-jar><" + repo + "/cairn-cli/target/bin/cairn.jar><why><a b><><*>")
        .contains("LC_ALL=C.UTF-8");
  }

  @Test
  void whatIsMeasuredIsCompiledAsInAnApplication() throws Exception {
    assertThat(run(cairn(), "profile", "/data").out()).contains("<-XX:TieredStopAtLevel=4>");
    assertThat(run(cairn(), "list").out()).doesNotContain("<-XX:TieredStopAtLevel=4>");
  }

  @Test
  void aNewerSourceIsBuiltAgain() throws Exception {
    run(cairn(), "list");
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plus(Duration.ofSeconds(5))));

    Cli.Result result = run(cairn(), "list");

    assertThat(result.err()).contains("building");
    assertThat(builds()).isEqualTo(2);
  }

  @Test
  void itsTreeIsFoundThroughSymbolicLinks() throws Exception {
    Path links = Files.createDirectory(temp.resolve("links"));
    Files.createSymbolicLink(links.resolve("absolute"), cairn());
    Path relative =
        Files.createSymbolicLink(temp.resolve("relative"), Path.of("links", "absolute"));

    assertThat(run(relative, "list").out()).contains(repo + "/cairn-cli/target/bin/cairn.jar");
  }

  @Test
  void concurrentFirstUsesBuildOnce() throws Exception {
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      processes.add(start(cairn(), "list"));
    }
    for (Process process : processes) {
      Cli.Result result = await(process);
      assertThat(result.exitCode()).as(result.err()).isZero();
      assertThat(result.out()).contains("<list>");
    }
    assertThat(builds()).isEqualTo(1);
    assertThat(repo.resolve("cairn-cli/target/bin"))
        .isDirectoryNotContaining(path -> !path.endsWith("cairn.jar"));
  }

  @Test
  void theLockOfABuildThatDiedIsTakenOver() throws Exception {
    Path lock = Files.createDirectories(repo.resolve("cairn-cli/target/bin/build.lock"));
    Process dead = new ProcessBuilder("/bin/sh", "-c", "exit 0").start();
    dead.waitFor();
    Files.writeString(lock.resolve("pid"), dead.pid() + "\n");

    Cli.Result result = run(cairn(), "list");

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(lock).doesNotExist();
  }

  @Test
  void aFailedBuildIsOneLineMoreAndLeavesNothing() throws Exception {
    fake("mvn", "echo 'compiler says no'; exit 1");

    Cli.Result result = run(cairn(), "list");

    assertThat(result.exitCode()).isEqualTo(70);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("compiler says no", "cairn: build failed: dir=" + repo);
    assertThat(repo.resolve("cairn-cli/target/bin")).isEmptyDirectory();
  }

  @Test
  void aMissingMavenOrJavaOrAnOldJavaIsNamed() throws Exception {
    Files.delete(fakes.resolve("mvn"));
    assertThat(run(cairn(), "list").err()).startsWith("cairn: mvn not found").hasLineCount(1);
    fake("java", "echo 'java version \"1.8.0_402\"' >&2");
    assertThat(run(cairn(), "list").err())
        .startsWith("cairn: java is too old: java=" + fakes + "/java, version=1, need=17")
        .hasLineCount(1);
    Files.delete(fakes.resolve("java"));
    assertThat(run(cairn(), "list").err()).startsWith("cairn: java not found").hasLineCount(1);
  }

  @Test
  void aMissingDemoIsBuiltForTheDemoOnly() throws Exception {
    run(cairn(), "list");
    Files.delete(repo.resolve("cairn-demo/target/cairn-demo.jar"));

    run(cairn(), "list");
    assertThat(builds()).isEqualTo(1);
    run(cairn(), "demo");
    assertThat(builds()).isEqualTo(2);
  }
}
