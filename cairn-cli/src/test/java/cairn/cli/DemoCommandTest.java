package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.Recorder;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The whole command with a {@link DemoStandInShop}: a real process, real requests, a real kill. */
class DemoCommandTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Properties properties = new Properties();

  @TempDir Path directory;

  @Test
  void durationIsInSecondsUnlessItSaysMillis() {
    assertThat(DemoCommand.duration("3")).isEqualTo(Duration.ofSeconds(3));
    assertThat(DemoCommand.duration("3s")).isEqualTo(Duration.ofSeconds(3));
    assertThat(DemoCommand.duration("500ms")).isEqualTo(Duration.ofMillis(500));
    for (String wrong : List.of("", "0", "-1", "3m", "1.5", "601", "s", "9999999999", "٣")) {
      assertThatThrownBy(() -> DemoCommand.duration(wrong)).hasMessageContaining("value=" + wrong);
    }
  }

  @Test
  void missingShopIsOneLine() {
    assertThat(demo()).isEqualTo(ExitCode.USAGE);
    assertThat(err())
        .isEqualTo(
            "cairn: no shop to run: property=cairn.demo.jar, variable=CAIRN_DEMO_JAR (name the"
                + " file cairn-demo.jar with one of them)\n");

    properties.setProperty("cairn.demo.jar", "/nowhere/shop.jar");
    assertThat(demo()).isEqualTo(ExitCode.USAGE);
    assertThat(err()).contains("jar=/nowhere/shop.jar").hasLineCount(1);
  }

  @Test
  void clientsOutOfRangeAreRefused() {
    assertThat(demo("--clients", "0")).isEqualTo(ExitCode.USAGE);
    assertThat(err()).contains("option=--clients, value=0, limit=1");
    assertThat(demo("--clients", "257")).isEqualTo(ExitCode.USAGE);
    assertThat(err()).contains("option=--clients, value=257, limit=256");
  }

  @Test
  void shopThatKeepsEveryRulePasses() throws IOException {
    use(DemoStandInShop.Honest.class);

    assertThat(demo("--kill-after", "100ms")).as(this::err).isEqualTo(ExitCode.OK);

    assertThat(shopIsAlive()).isFalse();
    Matcher numbers =
        Pattern.compile(
                "checked: (\\d+) answered requests, (\\d+) breadcrumbs; (\\d+) in flight, (\\d+)")
            .matcher(out());
    assertThat(numbers.find()).isTrue();
    assertThat(numbers.group(1)).isEqualTo("8");
    assertThat(numbers.group(2)).isEqualTo(numbers.group(1));
    assertThat(Integer.parseInt(numbers.group(3))).isPositive();
    assertThat(numbers.group(4)).isEqualTo(numbers.group(3));
    assertThat(files("cairn-demo/reports")).hasSize(2);
  }

  @Test
  void earlierDemosAreDeletedUnlessKept() throws IOException {
    use(DemoStandInShop.Honest.class);

    assertThat(demo("--kill-after", "100ms", "--clients", "2")).as(this::err).isZero();
    List<String> first = runs();
    assertThat(demo("--kill-after", "100ms", "--clients", "2", "--keep")).as(this::err).isZero();
    assertThat(first).hasSize(1);
    assertThat(runs()).hasSize(2).containsAll(first);

    assertThat(demo("--kill-after", "100ms", "--clients", "2")).as(this::err).isZero();
    assertThat(runs()).hasSize(1).doesNotContainAnyElementsOf(first);
    assertThat(files("cairn-demo/reports"))
        .containsExactlyInAnyOrder(runs().get(0) + ".json", runs().get(0) + ".txt");
  }

  @Test
  void interruptedDemosAreDeletedWhenTheyAreOld() throws IOException {
    use(DemoStandInShop.Honest.class);
    String recent = interruptedRun();
    String old = interruptedRun();
    Files.setLastModifiedTime(
        directory.resolve("cairn-demo").resolve(old).resolve("box"),
        FileTime.from(Instant.now().minus(Duration.ofHours(1))));

    assertThat(demo("--kill-after", "100ms", "--clients", "2")).as(this::err).isZero();

    assertThat(runs()).hasSize(2).contains(recent).doesNotContain(old);
  }

  private String interruptedRun() {
    Recorder recorder = Recorder.builder("cairn-demo").directory(directory).open();
    recorder.close();
    return recorder.runId();
  }

  @Test
  void shopThatForgetsBreadcrumbsFails() throws IOException {
    use(DemoStandInShop.Forgetful.class);

    assertThat(demo("--kill-after", "100ms", "--clients", "1")).isEqualTo(ExitCode.FOUND);

    assertThat(err()).contains("answered without a breadcrumb: request=c1-1, name=");
    assertThat(err()).contains("demo failed: problems=");
    assertThat(shopIsAlive()).isFalse();
  }

  @Test
  void shopThatEndsASpanTooEarlyFails() throws IOException {
    use(DemoStandInShop.Hasty.class);

    assertThat(demo("--kill-after", "100ms", "--clients", "1")).isEqualTo(ExitCode.FOUND);

    assertThat(err()).contains("begun without an open span: request=c1-2, name=");
  }

  @Test
  void shopThatDoesNotStartFailsAndNamesItsLog() throws IOException {
    use(DemoStandInShop.Stillborn.class);

    assertThat(demo()).isEqualTo(ExitCode.FOUND);

    assertThat(err()).contains("shop ended while it started: exitStatus=3, log=").hasLineCount(1);
    Path log = Path.of(err().replaceAll("(?s).*log=(\\S+) .*", "$1"));
    assertThat(log).content().contains("no luck today");
  }

  @Test
  void shopThatEndsUnderLoadFails() throws IOException {
    use(DemoStandInShop.Mortal.class);

    assertThat(demo("--kill-after", "60")).isEqualTo(ExitCode.FOUND);

    assertThat(err()).containsPattern("shop (ended by itself: exitStatus=4|did not answer: )");
    assertThat(shopIsAlive()).isFalse();
  }

  private int demo(String... arguments) {
    out.reset();
    err.reset();
    properties.setProperty("java.io.tmpdir", directory.toString());
    Session session =
        new Session(
            out,
            err,
            new Surroundings(
                Map.of(), properties, directory, Clock.systemUTC(), duration -> {}, () -> null));
    List<String> all = new ArrayList<>(List.of("--dir", directory.toString()));
    all.addAll(List.of(arguments));
    int exitCode =
        new CommandLine(new DemoCommand(session).spec())
            .setParameterExceptionHandler(new UsageErrors(session))
            .setExecutionExceptionHandler(new UsageErrors(session))
            .execute(all.toArray(new String[0]));
    return session.finish(exitCode);
  }

  /** Makes a jar that starts {@code shop}: a manifest, and the class path of this test. */
  private void use(Class<?> shop) throws IOException {
    StringBuilder classPath = new StringBuilder();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      classPath.append(Path.of(entry).toUri()).append(' ');
    }
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, shop.getName());
    manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, classPath.toString());
    Path jar = directory.resolve("shop.jar");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    properties.setProperty("cairn.demo.jar", jar.toString());
  }

  private boolean shopIsAlive() {
    Matcher pid = Pattern.compile("The shop is process (\\d+)").matcher(out());
    assertThat(pid.find()).isTrue();
    return ProcessHandle.of(Long.parseLong(pid.group(1))).map(ProcessHandle::isAlive).orElse(false);
  }

  private List<String> runs() throws IOException {
    return files("cairn-demo").stream().filter(name -> !name.equals("reports")).toList();
  }

  private List<String> files(String path) throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve(path))) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
