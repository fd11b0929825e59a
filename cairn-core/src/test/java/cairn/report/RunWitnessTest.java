package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import cairn.Recorder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunWitnessTest {
  private static final String ID = "20261130-140000-000-4711-0badcafe";

  @TempDir Path root;
  private final FakeHost host = new FakeHost();
  private Run run;

  @BeforeEach
  void recordedRun() {
    run =
        BoxBuilder.write(
            root,
            ID,
            BoxBuilder.box()
                .identity("cgroup", "/sys/fs/cgroup/app")
                .identity("cgroupInode", 99L)
                .beat(60_000)
                .bytes());
  }

  @Test
  void statementComesBackAsItWasMade() throws IOException {
    host.nodeOomKills = OptionalLong.of(5);
    host.cgroupOomKills = OptionalLong.of(1);

    assertThat(run.witness(Witness.by("run").exitStatus(137), host)).isTrue();

    assertThat(Statement.in(run.directory()))
        .containsExactly(
            new Statement(
                "run",
                host.now,
                OptionalInt.of(137),
                BoxBuilder.BOOT_ID,
                OptionalLong.of(5),
                OptionalLong.of(1)));
    Path file = run.directory().resolve("death-run");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(Files.readString(file)).startsWith("cairn: death 1\nby: run\nat: ");
    assertThat(run.report().exitStatus()).hasValue(137);
  }

  @Test
  void firstStatementOfAWitnessStays() throws IOException {
    assertThat(run.witness(Witness.by("run").exitStatus(1), host)).isTrue();
    assertThat(run.witness(Witness.by("run").exitStatus(2), host)).isFalse();
    assertThat(run.witness(Witness.by("watch"), host)).isTrue();
    assertThat(run.report().exitStatus()).hasValue(1);
    assertThat(run.directory().toFile().list()).noneMatch(name -> name.startsWith(".new-"));
  }

  @Test
  void statusGivenForOneReportIsNotWrittenDown() throws IOException {
    assertThat(run.report(Witness.by("me").exitStatus(2)).verdict().cause())
        .isEqualTo(Cause.HALTED);
    assertThat(run.report().exitStatus()).isEmpty();
  }

  @Test
  void statementsOfAnyBytesAreReadWithoutHarm() throws IOException {
    String whole = "cairn: death 1\nby: run\nat: 2026-11-30T14:01:02.123Z\nexitStatus: 137\n";
    Path file = run.directory().resolve("death-run");
    for (int cut = 0; cut <= whole.length(); cut++) {
      Files.writeString(file, whole.substring(0, cut));
      OptionalInt status = run.report().exitStatus();
      // A number that is cut is another number: so a statement appears whole or not at all.
      assertThat(status.isEmpty() || "137".startsWith(String.valueOf(status.getAsInt()))).isTrue();
    }
    for (String text :
        List.of(
            "cairn: death 1\nexitStatus: -1\n",
            "cairn: death 1\nexitStatus: 256\n",
            "cairn: death 1\nexitStatus: 9999999999999999999999\n",
            "cairn: death 1\nat: yesterday\nby\nnodeOomKills: \u202e5\n",
            "exitStatus: 137\n",
            "\0\0\0",
            "x".repeat(100_000))) {
      Files.writeString(file, text);
      assertThat(run.report().exitStatus()).isEmpty();
    }
    Files.write(file, new byte[] {(byte) 0xFF, (byte) 0xFE, 0});
    assertThat(run.report().exitStatus()).isEmpty();
    Files.delete(file);
    Files.createSymbolicLink(file, Path.of("/dev/zero"));
    assertThat(run.report().exitStatus()).isEmpty();
    Files.delete(file);
    Files.createDirectory(file);
    assertThat(run.report().exitStatus()).isEmpty();
  }

  @Test
  void hostileWitnessIsEscapedInTheReport() throws IOException {
    Files.writeString(
        run.directory().resolve("death-x"),
        "cairn: death 1\nby: a\u001b[31m\nat: 2026-11-30T14:01:02Z\nbootId: "
            + BoxBuilder.BOOT_ID
            + "\n");
    assertThat(run.report().toText().codePoints().filter(c -> c == 0x1b)).isEmpty();
  }

  @Test
  void namesAndStatusesAreChecked() {
    assertThatIllegalArgumentException().isThrownBy(() -> Witness.by("../x"));
    assertThatIllegalArgumentException().isThrownBy(() -> Witness.by(""));
    assertThatIllegalArgumentException().isThrownBy(() -> Witness.by("run").exitStatus(256));
    assertThatIllegalArgumentException().isThrownBy(() -> Witness.by("run").exitStatus(-1));
  }

  @Test
  void runThatIsAliveHasNoWitnessAndNoDelivery() throws IOException {
    try (Recorder recorder = Recorder.builder("alive").directory(root.resolve("r")).open()) {
      Run alive = Runs.under(root.resolve("r")).list().get(0);
      assertThatIllegalStateException().isThrownBy(() -> alive.witness(Witness.by("watch")));
      assertThatIllegalStateException().isThrownBy(() -> alive.deliver(report -> {}));
      assertThat(alive.identity().id()).isEqualTo(recorder.runId());
    }
  }

  @Test
  void reportIsDeliveredOnceAndKept() throws IOException {
    List<String> delivered = new ArrayList<>();

    assertThat(run.deliver(report -> delivered.add(report.run().id()))).isTrue();
    assertThat(run.deliver(report -> delivered.add(report.run().id()))).isFalse();

    assertThat(delivered).containsExactly(ID);
    assertThat(Files.readString(run.storedReport(), StandardCharsets.UTF_8))
        .isEqualTo(run.report().toJson());
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(run.storedReport())))
        .isEqualTo("rw-------");
    assertThat(Runs.under(root).list()).hasSize(1);
  }

  @Test
  void deliveryThatFailsIsTriedAgain() throws IOException {
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(
            () ->
                run.deliver(
                    report -> {
                      throw new IOException("no network");
                    }))
        .withMessage("no network");
    assertThat(run.storedReport()).doesNotExist();
    assertThat(run.deliver(report -> {})).isTrue();
  }

  @Test
  void deliveryWhileAnotherIsAtWorkIsRefusedAndLater() throws IOException {
    run.deliver(
        report ->
            assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> run.deliver(again -> {}))
                .withMessageContaining("in use"));
    assertThat(run.deliver(report -> {})).isFalse();
  }
}
