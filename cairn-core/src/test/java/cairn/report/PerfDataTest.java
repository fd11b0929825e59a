package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerfDataTest {
  @TempDir private Path directory;

  /** Counters of JVMs that were killed here, as {@link PerfCopy} copied them. */
  static byte[] file(String name) throws IOException {
    try (InputStream in = PerfDataTest.class.getResourceAsStream("/hsperfdata/" + name)) {
      return in.readAllBytes();
    }
  }

  /** A file with one text and one number of each name. */
  private static byte[] made(ByteOrder order, String... names) {
    ByteBuffer out = ByteBuffer.allocate(4096).order(order);
    out.order(ByteOrder.BIG_ENDIAN).putInt(0xcafec0c0).order(order);
    out.put((byte) (order == ByteOrder.LITTLE_ENDIAN ? 1 : 0)).put((byte) 2).put((byte) 0);
    out.putInt(24, 32).putInt(28, names.length);
    int at = 32;
    for (String name : names) {
      boolean isText = name.endsWith("!");
      byte[] key = name.replace("!", "").getBytes(StandardCharsets.US_ASCII);
      int value = (20 + key.length + 1 + 7) / 8 * 8;
      int length = value + 32;
      out.putInt(at, length).putInt(at + 4, 20).putInt(at + 8, isText ? 32 : 0);
      out.put(at + 12, (byte) (isText ? 'B' : 'J')).putInt(at + 16, value);
      out.position(at + 20).put(key);
      if (isText) {
        out.position(at + value).put("-Dpassword=hunter2".getBytes(StandardCharsets.US_ASCII));
      } else {
        out.putLong(at + value, 42);
      }
      at += length;
    }
    return out.array();
  }

  @Test
  void countersOfAKilledJvmAreRead() throws IOException {
    assertThat(PerfData.parse(file("17-parallel")).facts())
        .containsExactly(
            "the last collection was for: System.gc()",
            "collector Parallel young collection pauses: 3 collections in 3 ms",
            "collector Parallel full collection pauses: 3 collections in 8 ms",
            "7 threads, at most 7",
            "generation new: 0 B of 21 MiB as of its last collection",
            "generation old: 532 KiB of 43 MiB as of its last collection");
    assertThat(PerfData.parse(file("25-g1")).facts())
        .contains("a collection was under way: System.gc()")
        .noneMatch(fact -> fact.contains("last collection was for"));
    assertThat(PerfData.parse(file("25-g1")).startedAt())
        .isEqualTo(Instant.parse("2026-11-30T21:09:42.881Z"));
  }

  @Test
  void textsOfTheApplicationAreLeftOutAndTheRestIsTheSame() {
    for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
      byte[] bytes =
          made(
              order,
              "sun.rt.javaCommand!",
              "java.rt.vmArgs!",
              "java.property.java.class.path!",
              "any.other.name!",
              "java.threads.live");
      assertThat(new String(bytes, StandardCharsets.ISO_8859_1)).contains("hunter2");
      PerfData data = PerfData.parse(bytes);
      String redacted = new String(data.redacted(), StandardCharsets.ISO_8859_1);
      assertThat(redacted).doesNotContain("hunter2", "-D").contains("sun.rt.javaCommand");
      assertThat(data.redacted()).hasSameSizeAs(bytes);
      assertThat(PerfData.parse(data.redacted()).number("java.threads.live")).hasValue(42);
      assertThat(data.facts()).containsExactly("42 threads");
    }
  }

  @Test
  void aCopyOfACopyIsTheSame() throws IOException {
    for (String name : List.of("17-parallel", "25-g1")) {
      assertThat(PerfData.parse(file(name)).redacted()).isEqualTo(file(name));
    }
  }

  @Test
  void damageNeverThrowsAndNeverShowsMore() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[] made = made(ByteOrder.LITTLE_ENDIAN, "sun.rt.javaCommand!", "a.b", "java.rt.vmArgs!");
    for (byte[] bytes : List.of(file("25-g1"), made)) {
      for (int end = 0; end < bytes.length; end += 13) {
        PerfData data = PerfData.parse(Arrays.copyOf(bytes, end));
        if (data != null) {
          data.facts();
        }
      }
      for (int round = 0; round < 3000; round++) {
        byte[] damaged = bytes.clone();
        for (int i = 0; i < 1 + round % 20; i++) {
          int at = random.nextInt(round % 2 == 0 ? 400 : bytes.length);
          damaged[at] = (byte) (random.nextBoolean() ? random.nextInt(256) : 0xff);
        }
        PerfData data = PerfData.parse(damaged);
        if (data != null) {
          data.facts();
          data.startedAt();
          assertThat(data.redacted()).as("seed=%d", seed).hasSameSizeAs(damaged);
        }
      }
    }
    assertThat(PerfData.parse(new byte[0])).isNull();
    assertThat(PerfData.parse(new byte[32])).isNull();
    assertThat(PerfData.parse(new byte[PerfData.MAX_BYTES + 1])).isNull();
  }

  @Test
  void theCopyIsItsOwnersAndHasTheTimeOfTheFile() throws IOException {
    Path source = Files.write(directory.resolve("4711"), file("25-g1"));
    FileTime time = FileTime.fromMillis(1_700_000_000_000L);
    Files.setLastModifiedTime(source, time);
    Path target = directory.resolve(PerfCopy.COPY);
    assertThat(PerfCopy.copy(source, target)).isTrue();
    assertThat(PerfCopy.copy(source, target)).as("the first stays").isFalse();
    assertThat(Files.getLastModifiedTime(target)).isEqualTo(time);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
        .isEqualTo("rw-------");
    assertThat(PerfCopy.read(target).facts()).isNotEmpty();
    Path diary = Files.writeString(directory.resolve("diary"), "dear diary");
    assertThatThrownBy(() -> PerfCopy.copy(diary, directory.resolve("x")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("file=" + diary);
  }

  @Test
  void onlyTheRunsOwnCountersAreFound() throws IOException {
    Path user = Files.createDirectories(directory.resolve("hsperfdata_app"));
    Path own = Files.write(user.resolve("4711"), file("25-g1"));
    Instant started = PerfData.parse(file("25-g1")).startedAt();
    // Opened half a second after its JVM started, in a process that is a second older.
    assertThat(find(started.plusMillis(500), 1_000)).isEqualTo(own);
    // A later process of the same pid; an earlier one.
    assertThat(find(started.minusSeconds(60), 1_000)).isNull();
    assertThat(find(started.plusSeconds(60), 1_000)).isNull();
    // A shell that waited for a minute and became the JVM.
    assertThat(find(started.plusSeconds(60), 90_000)).isEqualTo(own);
    Files.writeString(own, "dear diary");
    assertThat(find(started.plusMillis(500), 1_000)).isNull();
  }

  private Path find(Instant opened, long processMillisBefore) throws IOException {
    BoxBuilder box =
        BoxBuilder.box()
            .identity("wallMillis", opened.toEpochMilli())
            .identity("nanos", 5_000_000_000_000L)
            .identity("processStart", (5_000_000 - processMillisBefore) / 10)
            .beat(0, opened.toEpochMilli() - BoxBuilder.START_WALL);
    return PerfCopy.find(
        new Salvage(box.bytes(), "box", false),
        List.of(directory.resolve("nothing"), directory),
        4711);
  }
}
