package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorCommandTest {
  @TempDir Path temp;
  private Path root;
  private Cli cli;

  @BeforeEach
  void setUp() throws IOException {
    root = Files.createDirectory(temp.resolve("cairn"));
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
    cli = new Cli(temp);
    cli.systemRoot = temp;
    cli.variables.put("CAIRN_DIR", root.toString());
    file("proc/vmstat", "nr_free_pages 1\noom_kill 3\n");
    file("proc/self/cgroup", "0::/app\n");
    file("proc/sys/kernel/core_pattern", "|/usr/share/apport/apport %p\n");
    file("sys/fs/cgroup/app/memory.max", "268435456\n");
    file("sys/fs/cgroup/app/memory.current", "1048576\n");
    file("sys/fs/cgroup/app/memory.events", "oom 0\noom_kill 0\n");
  }

  private void file(String name, String content) throws IOException {
    Path file = temp.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private JsonNode check(String name) {
    for (JsonNode check : cli.run("doctor", "--json").json()) {
      if (check.get("check").textValue().equals(name)) {
        return check;
      }
    }
    throw new AssertionError("no check: " + name);
  }

  private void assertCheck(String name, String status, String text) {
    JsonNode check = check(name);
    assertThat(check.get("status").textValue()).as(check.toString()).isEqualTo(status);
    assertThat(check.get("text").textValue()).contains(text);
    assertThat(check.has("remedy")).isEqualTo(!status.equals("ok"));
  }

  @Test
  void aSoundSetUpHasNoProblem() {
    Cli.Result result = cli.run("doctor");

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).contains("ok       directory    " + root).contains("0 problems");
    assertCheck("permissions", "ok", "rwx------");
    assertCheck("memory limit", "ok", "cgroup v2, limit 256.0 MiB, used 1.0 MiB");
    assertCheck("oom counter", "ok", "3 OOM kills");
    assertCheck("core dumps", "ok", "piped to /usr/share/apport/apport");
    assertCheck("crash file", "ok", "working directory");
    assertCheck("java", "ok", "17.0.1 (Nobody)");
    assertCheck("runs", "ok", "0 (0 running)");
  }

  @Test
  void aDirectoryThatIsNotThereYetIsFine() throws IOException {
    Files.delete(root);

    assertCheck("directory", "ok", "does not exist yet");
    assertThat(cli.run("doctor").exitCode()).isZero();
    assertThat(root).doesNotExist();
  }

  @Test
  void aDirectoryThatOthersReachIsAWarningWithTheCommandThatHelps() throws IOException {
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertCheck("permissions", "warn", "others can see");
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxrwx---"));
    assertCheck("permissions", "warn", "plant or delete");
    assertThat(check("permissions").get("remedy").textValue()).isEqualTo("chmod 700 " + root);
    assertThat(cli.run("doctor").exitCode()).isZero();
  }

  @Test
  void aSymbolicLinkIsAProblemBecauseARecorderRefusesIt() throws IOException {
    Path link = Files.createSymbolicLink(temp.resolve("link"), root);
    cli.variables.put("CAIRN_DIR", link.toString());

    assertCheck("directory", "problem", "symbolic link to " + root);
    Cli.Result result = cli.run("doctor");
    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.out()).contains("-> name the directory itself").contains("1 problem,");
  }

  @Test
  void aFileInPlaceOfTheDirectoryIsAProblem() throws IOException {
    Files.delete(root);
    Files.createFile(root);

    assertCheck("directory", "problem", "not a directory");
  }

  @Test
  void aRecorderThatIsSwitchedOffIsAProblem() {
    cli.variables.put("CAIRN_MODE", "off");
    assertCheck("mode", "problem", "nothing is recorded");
    cli.variables.put("CAIRN_MODE", "copy");
    assertCheck("mode", "warn", "copy");
  }

  @Test
  void aMissingOomCounterIsAWarning() throws IOException {
    file("proc/vmstat", "nr_free_pages 1\n");

    assertCheck("oom counter", "warn", "no readable oom_kill");
  }

  @Test
  void theMemoryGroupOfVersionOneIsFoundAlsoWhereThePathIsTheHosts() throws IOException {
    file("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/kubepods/pod/../1\n0::/\n");
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1024\n");
    file("sys/fs/cgroup/memory/memory.oom_control", "under_oom 0\noom_kill 0\n");

    assertCheck("memory limit", "ok", "cgroup v1, limit none, used 1.0 KiB");
  }

  @Test
  void aMemoryGroupWithoutCounterIsAWarning() throws IOException {
    Files.delete(temp.resolve("sys/fs/cgroup/app/memory.events"));

    assertCheck("memory limit", "warn", "no oom_kill");
  }

  @Test
  void aGroupWhoseProcessesDieTogetherIsAWarning() throws IOException {
    file("sys/fs/cgroup/app/memory.oom.group", "0\n");
    assertThat(cli.run("doctor").out()).doesNotContain("oom group");
    file("sys/fs/cgroup/app/memory.oom.group", "1\n");

    assertCheck("oom group", "warn", "a parent such as cairn run too");
    assertThat(check("oom group").get("remedy").textValue()).contains("cairn watch");
  }

  @Test
  void whatEveryJvmHereDoesWithAFullHeapIsNamed() {
    assertCheck("heap full", "ok", "cairn note oom %p");
    cli.variables.put("JAVA_TOOL_OPTIONS", "-XX:+ExitOnOutOfMemoryError -XX:OnOutOfMemoryError=x");

    assertCheck(
        "heap full",
        "ok",
        "ExitOnOutOfMemoryError (JAVA_TOOL_OPTIONS), OnOutOfMemoryError (JAVA_TOOL_OPTIONS)");
  }

  @Test
  void anErrorFileThatEveryJvmHereIsGivenIsNamed() {
    cli.variables.put("JAVA_TOOL_OPTIONS", "-Xmx1g -XX:ErrorFile=/dumps/hs_err_%p.log -Da=b");

    assertCheck("crash file", "ok", "hs_err goes to /dumps/hs_err_%p.log (JAVA_TOOL_OPTIONS)");
  }

  @Test
  void anotherSystemIsNotBlamedForWhatItDoesNotHave() throws IOException {
    Files.delete(temp.resolve("proc/vmstat"));
    Files.delete(temp.resolve("proc/self/cgroup"));
    cli.properties.setProperty("os.name", "Mac OS X");

    assertCheck("oom counter", "ok", "an OOM kill shows as KILLED");
    assertCheck("memory limit", "ok", "not on Mac OS X");
  }
}
