package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.journal.Entry;
import cairn.journal.JournalFollower;
import cairn.journal.JournalReader;
import cairn.stress.JournalCheck.Generation;
import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Journals with a second writer, a stopped owner, or a full disk. */
@Tag("slow")
@Timeout(180)
class JournalEnvironmentTest {
  private static final int PAGE = 4096;
  private static final Pattern RETURNED = Pattern.compile("returned=(\\d+) error=(.*)");

  @TempDir Path directory;

  private final Launcher launcher =
      Launcher.plain("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private Path journal() {
    return directory.resolve("journal");
  }

  private JournalVictimProcess start(JournalPlan plan) throws IOException {
    return JournalVictimProcess.start(launcher, plan, journal(), directory);
  }

  private static JournalPlan plan(String durability) {
    return new JournalPlan(41, 0, 2, durability, 64 << 10, 16 << 10, "block");
  }

  @Test
  void secondProcessIsRefusedWithTheOwnersPidAndTheFirstGoesOn() throws Exception {
    JournalPlan plan = plan("power");
    try (JournalVictimProcess owner = start(plan)) {
      owner.child().obey("rounds 20");
      try (JournalVictimProcess second = start(plan)) {
        assertThat(second.answer())
            .startsWith("refused journal is in use")
            .contains("ownerPid=" + owner.child().pid() + ",");
      }
      owner.child().obey("rounds 20");
      assertThat(owner.child().end("close")).isZero();

      assertThat(JournalCheck.of(List.of(new Generation(plan, owner.oracle())), journal()))
          .extracting(Tally::violations, Tally::recordsChecked)
          .containsExactly(0L, 2 * 40L);
    }
    try (JournalVictimProcess next = start(plan)) {
      assertThat(next.answer()).startsWith("open ");
    }
  }

  @Test
  void stoppedOwnerIsStillTheOwnerCanBeReadAndGoesOn() throws Exception {
    JournalPlan plan = plan("bounded");
    try (JournalVictimProcess owner = start(plan)) {
      owner.appendForever();
      owner.child().liveOn(50);
      owner.child().signal("STOP");
      long returned = owner.oracle().returned(0);
      try (JournalVictimProcess second = start(plan)) {
        assertThat(second.answer()).contains("ownerPid=" + owner.child().pid() + ",");
      }
      JournalReader reader = JournalReader.of(journal());
      assertThat(reader.isLive()).isTrue();
      List<Long> read = new ArrayList<>();
      reader.replay(entry -> read.add(entry.sequence()));
      assertThat(read).hasSizeGreaterThanOrEqualTo((int) returned).startsWith(1L);
      try (JournalFollower follower = reader.follow(1)) {
        owner.child().signal("CONT");
        long last = 0;
        while (last <= read.get(read.size() - 1)) { // what came after the stop
          Entry entry = follower.poll(Duration.ofSeconds(10));
          assertThat(entry).as("after %d", last).isNotNull();
          assertThat(entry.sequence()).isEqualTo(last + 1);
          last = entry.sequence();
        }
        assertThat(follower.findings()).isEmpty();
      }
      owner.child().kill();
      assertThat(
              JournalCheck.of(List.of(new Generation(plan, owner.oracle())), journal()).details())
          .isEmpty();
    }
  }

  @Test
  void diskThatIsFullAtAnyStepOfCreateAndRotateCostsNothingThatWasReturned() throws Exception {
    List<Mount> mounts = new ArrayList<>();
    try {
      List<String> sizes = new ArrayList<>();
      IntStream.rangeClosed(1, 28).forEach(pages -> sizes.add("size=" + pages * PAGE));
      IntStream.rangeClosed(2, 8).forEach(inodes -> sizes.add("size=8m,nr_inodes=" + inodes));
      for (String size : sizes) {
        Optional<Mount> mount = Mount.of("tmpfs", size, directory.resolve("full-" + mounts.size()));
        if (mount.isEmpty()) {
          return;
        }
        mounts.add(mount.get());
      }
      List<Integer> returned = appendToAll(mounts, "first");
      assertThat(returned).contains(0, ManyJournalsVictim.APPENDS).anyMatch(n -> n > 0 && n < 150);
      for (int i = 0; i < sizes.size(); i++) {
        assertThat(texts(mounts.get(i)))
            .as(sizes.get(i))
            .containsAll(expected("first", returned.get(i)));
        mounts.get(i).remount("size=8m,nr_inodes=100");
      }

      // There is room again: each works, with all it had.
      assertThat(appendToAll(mounts, "second")).containsOnly(ManyJournalsVictim.APPENDS);
      for (int i = 0; i < sizes.size(); i++) {
        assertThat(texts(mounts.get(i)))
            .as(sizes.get(i))
            .containsAll(expected("first", returned.get(i)))
            .containsAll(expected("second", ManyJournalsVictim.APPENDS))
            .doesNotHaveDuplicates();
      }
    } finally {
      for (Mount mount : mounts) {
        mount.close();
      }
    }
  }

  @Test
  void diskThatFillsMakesAppendsThrowAndWithRoomTheSameProcessGoesOn() throws Exception {
    Optional<Mount> mount = Mount.of("tmpfs", "size=4m", directory.resolve("filling"));
    if (mount.isEmpty()) {
      return;
    }
    try (Mount disk = mount.get()) {
      Path journal = disk.directory.resolve("journal");
      JournalPlan plan = plan("power");
      try (JournalVictimProcess victim =
          JournalVictimProcess.start(launcher, plan, journal, directory)) {
        victim.appendForever();
        disk.fill();
        while (victim.failures() == 0) {
          victim.child().liveOn(5);
        }
        long durable = victim.oracle().durable();
        Files.delete(disk.directory.resolve("filler"));
        while (victim.oracle().durable() < durable + 100) {
          victim.child().liveOn(5);
        }
        victim.child().kill();

        assertThat(victim.child().log()).isEmpty();
        assertThat(
                JournalCheck.of(List.of(new Generation(plan, victim.oracle())), journal).details())
            .isEmpty();
      }
    }
  }

  /** {@return how many appends returned, by mount} */
  private List<Integer> appendToAll(List<Mount> mounts, String prefix) throws Exception {
    String[] arguments =
        Stream.concat(
                Stream.of(prefix),
                mounts.stream().map(mount -> mount.directory.resolve("journal").toString()))
            .toArray(String[]::new);
    Java.Outcome outcome =
        Java.run(
            List.of(),
            List.of("-Xmx64m", "-XX:TieredStopAtLevel=1"),
            ManyJournalsVictim.class,
            directory.resolve("log-" + prefix),
            arguments);
    assertThat(outcome.status()).as(outcome.output()).isZero();
    assertThat(outcome.output()).endsWith("end\n").doesNotContain("Exception in thread");
    List<Integer> returned = new ArrayList<>();
    for (Matcher line = RETURNED.matcher(outcome.output()); line.find(); ) {
      returned.add(Integer.parseInt(line.group(1)));
      boolean isFull = returned.get(returned.size() - 1) < ManyJournalsVictim.APPENDS;
      assertThat(line.group(2)).contains(isFull ? "No space left on device" : "none");
    }
    assertThat(returned).as(outcome.output()).hasSize(mounts.size());
    return returned;
  }

  private static List<String> expected(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + " " + i).toList();
  }

  private static List<String> texts(Mount mount) throws IOException {
    Path journal = mount.directory.resolve("journal");
    List<String> texts = new ArrayList<>();
    if (Files.isDirectory(journal)) {
      JournalReader.of(journal)
          .replay(
              entry ->
                  texts.add(
                      new String(entry.bytes(), StandardCharsets.UTF_8).replaceAll(" x+$", "")));
    }
    return texts;
  }
}
