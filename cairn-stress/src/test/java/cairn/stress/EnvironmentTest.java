package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Recorders in places that are full, read-only, shared, gone or otherwise unkind. */
@Tag("slow")
@Timeout(180)
class EnvironmentTest {
  private static final int PAGE = 4096;
  private static final int MAX_POLLS = 2_000;

  @TempDir Path directory;

  private final Launcher launcher = Launcher.plain("-Xmx64m", "-XX:+UseSerialGC");
  private final Plan plan = new Plan(31, 4, 64 << 10, 64, Scenario.MIXED);

  @Test
  void diskThatFillsAtAnyStepOfOpeningDisablesTheRecorderAndHarmsNothing() throws Exception {
    int boxPages = (int) ((boxLength() + PAGE - 1) / PAGE);
    List<String> sizes = new ArrayList<>();
    IntStream.rangeClosed(1, 8).forEach(pages -> sizes.add("size=" + pages * PAGE));
    IntStream.of(boxPages / 4, boxPages / 2, 3 * boxPages / 4)
        .forEach(pages -> sizes.add("size=" + pages * PAGE));
    IntStream.rangeClosed(boxPages - 6, boxPages + 6)
        .forEach(pages -> sizes.add("size=" + pages * PAGE));
    // No room for a further file or directory: the root, the app's, the run's, lock, box.
    IntStream.rangeClosed(1, 8).forEach(inodes -> sizes.add("size=8m,nr_inodes=" + inodes));

    List<Mount> mounts = new ArrayList<>();
    try {
      for (String size : sizes) {
        Optional<Mount> mount = Mount.of("tmpfs", size, directory.resolve("full-" + mounts.size()));
        if (mount.isEmpty()) {
          return;
        }
        mounts.add(mount.get());
      }
      String[] roots =
          mounts.stream()
              .map(mount -> mount.directory.resolve("root").toString())
              .toArray(String[]::new);
      Java.Outcome outcome =
          Java.run(List.of(), List.of("-Xmx64m"), ManyRootsVictim.class, log(), roots);

      assertThat(outcome.status()).as(outcome.output()).isZero();
      assertThat(outcome.output()).endsWith("end\n").doesNotContain("Exception in thread");
      int enabled = 0;
      for (int i = 0; i < roots.length; i++) {
        Path root = Path.of(roots[i]);
        boolean isEnabled = outcome.output().contains("root=" + root + " enabled=true");
        enabled += isEnabled ? 1 : 0;
        if (isEnabled) {
          Run run = only(root);
          assertThat(run.report().trail()).as(sizes.get(i)).hasSize(ManyRootsVictim.CRUMBS);
          assertThat(run.report().verdict().cause()).isEqualTo(Cause.RETURNED);
        } else if (Files.isDirectory(root)) {
          assertThat(Runs.under(root).list()).as(sizes.get(i)).isEmpty();
          assertThat(filesUnder(root)).as("left behind with " + sizes.get(i)).isEmpty();
        }
      }
      assertThat(enabled).isBetween(1, roots.length - 1);
    } finally {
      for (Mount mount : mounts) {
        mount.close();
      }
    }
  }

  @Test
  void diskThatFillsAfterOpeningHarmsNeitherRecorderNorApplication() throws Exception {
    Optional<Mount> mount = Mount.of("tmpfs", "size=8m", directory.resolve("filling"));
    if (mount.isEmpty()) {
      return;
    }
    try (Mount disk = mount.get()) {
      try (VictimProcess victim = start(launcher, disk.directory.resolve("root"))) {
        assertThat(victim.mode()).startsWith("enabled mapped");
        disk.fill();
        victim.record(3_000);
        victim.kill();

        assertThat(check(victim).details()).isEmpty();
      }
    }
  }

  @Test
  void readOnlyDirectoryDisablesTheRecorder() throws Exception {
    Path root = directory.resolve("read-only");
    Files.createDirectory(
        root, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-xr-xr-x")));
    if (!Files.isWritable(root)) {
      assertDisabled(root, "");
      return;
    }
    // Permissions don't stop root; a read-only file system does.
    Optional<Mount> mount = Mount.of("tmpfs", "size=8m", root);
    if (mount.isPresent()) {
      try (Mount disk = mount.get()) {
        disk.readOnly();
        assertDisabled(root, "");
      }
    }
  }

  @Test
  void rootThatIsAFileDisablesTheRecorder() throws Exception {
    assertDisabled(Files.createFile(directory.resolve("file")), "");
  }

  @Test
  void symbolicLinkInPlaceOfTheRootIsRefused() throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), elsewhere);

    assertDisabled(link, "link");
    assertThat(filesUnder(elsewhere)).isEmpty();
  }

  @Test
  void symbolicLinkInPlaceOfTheApplicationsDirectoryIsRefused() throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Path root = Files.createDirectory(directory.resolve("root"));
    Files.createSymbolicLink(root.resolve("victim"), elsewhere);

    assertDisabled(root, "link");
    assertThat(filesUnder(elsewhere)).isEmpty();
  }

  @Test
  void directoryDeletedWhileRecordingHarmsNothing() throws Exception {
    try (VictimProcess victim = start(launcher, directory.resolve("root"))) {
      victim.record(500);
      VictimProcess.delete(victim.root());
      victim.record(2_000);

      assertThat(victim.end("close")).as(victim.log()).isZero();
      assertThat(victim.log()).doesNotContain("Exception");
      assertNoFailures(victim);
      assertThat(victim.root()).doesNotExist();
    }
  }

  @Test
  void twoProcessesUnderOneRootHaveARunEach() throws Exception {
    Path root = directory.resolve("root");
    try (VictimProcess one = start(launcher, root);
        VictimProcess other = start(launcher, root)) {
      one.recordForever();
      other.recordForever();
      one.kill();

      assertThat(Runs.under(root).list()).hasSize(2);
      assertThat(VictimCheck.ofKilled(plan, one.oracle(), seen(one)).details()).isEmpty();
      assertThat(Runs.under(root).newestDead()).isPresent();
      assertThat(runOf(other).isRunning()).isTrue();
      other.kill();
      assertThat(VictimCheck.ofKilled(plan, other.oracle(), seen(other)).details()).isEmpty();
    }
  }

  @Test
  void twoClassLoadersInOneProcessHaveARunEach() throws Exception {
    Path root = directory.resolve("root");

    Java.Outcome outcome =
        Java.run(List.of(), List.of("-Xmx64m"), TwoLoadersVictim.class, log(), root.toString());

    assertThat(outcome.output()).contains("loaders=2").doesNotContain("Exception");
    List<String> messages = new ArrayList<>();
    for (Run run : Runs.under(root)) {
      assertThat(run.isRunning()).isFalse();
      run.report().trail().forEach(crumb -> messages.add(crumb.message()));
    }
    assertThat(messages).containsExactlyInAnyOrder("first", "second");
  }

  @Test
  void copyModeShowsEverythingSoon() throws Exception {
    try (VictimProcess victim =
        start(launcher.with("-Dcairn.mode=copy"), directory.resolve("root"))) {
      assertCopies(victim);
    }
  }

  @Test
  void fileSystemThatIsNotKnownToBeSafeToMapGetsCopyMode() throws Exception {
    Optional<Mount> mount = Mount.of("ramfs", "mode=700", directory.resolve("ramfs"));
    if (mount.isEmpty()) {
      return;
    }
    try (Mount disk = mount.get()) {
      try (VictimProcess victim = start(launcher, disk.directory.resolve("root"))) {
        assertCopies(victim);
      }
    }
  }

  @Test
  void copyModeOnADiskThatFillsHarmsNothing() throws Exception {
    Optional<Mount> mount = Mount.of("tmpfs", "size=8m", directory.resolve("filling"));
    if (mount.isEmpty()) {
      return;
    }
    try (Mount disk = mount.get()) {
      try (VictimProcess victim =
          start(launcher.with("-Dcairn.mode=copy"), disk.directory.resolve("root"))) {
        disk.fill();
        victim.record(2_000);
        assertThat(victim.end("close")).as(victim.log()).isZero();

        assertThat(VictimCheck.of(plan, victim.oracle(), seen(victim)).details()).isEmpty();
      }
    }
  }

  @Test
  void interruptedThreadThatDiesOfAnExceptionDoesNotEndTheCopies() throws Exception {
    Path root = directory.resolve("root");

    Java.Outcome outcome =
        Java.run(
            List.of(),
            List.of("-Xmx64m", "-Dcairn.mode=copy"),
            InterruptedVictim.class,
            log(),
            root.toString());

    assertThat(outcome.status()).isEqualTo(InterruptedVictim.STATUS);
    assertThat(outcome.output()).contains("mode=copy");
    assertThat(only(root).report().trail())
        .extracting(Breadcrumb::message)
        .containsExactly("before", "after");
    assertThat(only(root).report().counters()).containsEntry("copyErrors", 0L);
  }

  @Test
  void littleDirectMemoryIsNoObstacle() throws Exception {
    for (String mode : List.of("copy", "mapped")) {
      Launcher small = launcher.with("-Dcairn.mode=" + mode, "-XX:MaxDirectMemorySize=256k");
      try (VictimProcess victim = start(small, directory.resolve(mode))) {
        assertThat(victim.mode()).startsWith("enabled " + mode);
        victim.record(500);
        assertThat(victim.end("close")).as(victim.log()).isZero();

        assertThat(VictimCheck.of(plan, victim.oracle(), seen(victim)).details()).isEmpty();
      }
    }
  }

  @Test
  void recordsOfShutdownHooksAreKeptAndTheExitIsStillAnExit() throws Exception {
    Path root = directory.resolve("root");

    Java.Outcome outcome =
        Java.run(List.of(), List.of("-Xmx64m"), HookVictim.class, log(), root.toString());

    assertThat(outcome.output()).isEmpty();
    assertThat(outcome.status()).isEqualTo(HookVictim.STATUS);
    Report report = only(root).report();
    assertThat(report.verdict().cause()).isEqualTo(Cause.EXIT);
    for (String category : List.of("early", "late")) {
      assertThat(report.trail())
          .filteredOn(crumb -> category.equals(crumb.category()))
          .extracting(Breadcrumb::message)
          .hasSize(HookVictim.CRUMBS);
      assertThat(report.scope().tags())
          .containsEntry(category, Integer.toString(HookVictim.CRUMBS - 1));
    }
    assertThat(report.openSpans()).isEmpty();
  }

  @Test
  void systemExitWhileThreadsRecordIsAnExit() throws Exception {
    try (VictimProcess victim = start(launcher, directory.resolve("root"))) {
      victim.recordForever();

      assertThat(victim.end("exit 5")).as(victim.log()).isEqualTo(5);
      assertNoFailures(victim);
      assertThat(seen(victim).cause()).isEqualTo(Cause.EXIT);
      assertThat(VictimCheck.of(plan, victim.oracle(), seen(victim)).details()).isEmpty();
    }
  }

  @Test
  void sixtyFourThreadsLoseNothing() throws Exception {
    Plan crowd = new Plan(32, 64, 256 << 10, 1024, Scenario.MIXED);
    try (VictimProcess victim = launcher.start(crowd, directory.resolve("root"), directory)) {
      victim.recordForever();
      victim.kill();

      assertThat(check(victim).details()).isEmpty();
    }
  }

  @Test
  void virtualThreadsLoseNothing() throws Exception {
    Optional<Path> home = Java.withVirtualThreads();
    if (home.isEmpty()) {
      return;
    }
    Plan crowd = new Plan(33, 64, 256 << 10, 1024, Scenario.MIXED);
    Launcher virtual = launcher.withJavaHome(home.get()).with("-D" + Victim.VIRTUAL + "=true");
    try (VictimProcess victim = virtual.start(crowd, directory.resolve("root"), directory)) {
      victim.record(1_000);
      victim.kill();

      assertThat(check(victim).details()).isEmpty();
    }
  }

  @Test
  void newerJavaLosesNothing() throws Exception {
    Optional<Path> home = Java.withVirtualThreads();
    if (home.isEmpty()) {
      return;
    }
    try (VictimProcess victim =
        start(launcher.withJavaHome(home.get()), directory.resolve("root"))) {
      victim.recordForever();
      victim.kill();

      assertThat(check(victim).details()).isEmpty();
      assertThat(victim.log()).doesNotContain("WARNING");
    }
  }

  private void assertDisabled(Path root, String reason) throws Exception {
    try (VictimProcess victim = start(launcher, root)) {
      assertThat(victim.mode()).startsWith("disabled").contains(reason);
      victim.record(200);
      assertNoFailures(victim);
      assertThat(victim.end("close")).as(victim.log()).isZero();
      assertThat(victim.log()).contains("nothing is recorded").doesNotContain("in thread");
    }
  }

  private void assertCopies(VictimProcess victim) throws Exception {
    assertThat(victim.mode()).startsWith("enabled copy");
    victim.record(1_000);
    List<String> details = List.of("nothing is there");
    for (int i = 0; i < MAX_POLLS && !details.isEmpty(); i++) {
      LockSupport.parkNanos(5_000_000);
      details = VictimCheck.of(plan, victim.oracle(), seen(victim)).details();
    }
    assertThat(details).isEmpty();
    victim.kill();
    assertThat(check(victim).details()).isEmpty();
  }

  private void assertNoFailures(VictimProcess victim) throws IOException {
    for (int t = 0; t < plan.threads(); t++) {
      assertThat(victim.oracle().failures(t)).as(victim.log()).isZero();
    }
  }

  private VictimProcess start(Launcher launcher, Path root) throws IOException {
    return launcher.start(plan, root, directory);
  }

  private static Tally check(VictimProcess victim) throws IOException {
    return VictimCheck.ofKilled(victim.plan(), victim.oracle(), seen(victim));
  }

  private static Seen seen(VictimProcess victim) throws IOException {
    return Seen.of(runOf(victim).report());
  }

  private static Run runOf(VictimProcess victim) throws IOException {
    for (Run run : Runs.under(victim.root())) {
      if (run.report().run().pid() == victim.pid()) {
        return run;
      }
    }
    throw new AssertionError("no run of pid " + victim.pid() + " under " + victim.root());
  }

  private static Run only(Path root) throws IOException {
    List<Run> runs = Runs.under(root).list();
    assertThat(runs).hasSize(1);
    return runs.get(0);
  }

  private long boxLength() throws Exception {
    Path root = directory.resolve("measured");
    Java.Outcome outcome =
        Java.run(List.of(), List.of("-Xmx64m"), ManyRootsVictim.class, log(), root.toString());
    assertThat(outcome.output()).contains("enabled=true");
    return Files.size(only(root).directory().resolve("box"));
  }

  private static List<Path> filesUnder(Path root) throws IOException {
    try (var files = Files.walk(root)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  private Path log() {
    return directory.resolve("log-" + System.nanoTime());
  }
}
