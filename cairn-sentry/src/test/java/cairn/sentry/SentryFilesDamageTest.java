package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Breadcrumb;
import cairn.report.Report;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A small cache directory of the SDK with every byte flipped, every truncation, and random damage:
 * never a throw, no end that doesn't come, no more memory than a multiple of the files'.
 */
class SentryFilesDamageTest {
  /** What reading and rendering takes whatever is there: buffers, texts, lists. */
  private static final long FIXED_BYTES = 4 << 20;

  private static final long BYTES_PER_BYTE = 100;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir Path temp;
  private Path dsn;
  private List<Path> files;

  @BeforeEach
  void setUp() throws IOException {
    dsn = Path.of(SentryCache.writeScope(temp.toString()));
    SentryCache.writeEvent(temp.toString(), SentryCache.FIRST_MILLIS + 12_000, false);
    SentryCache.writeSession(temp.toString());
    Files.writeString(dsn.resolve("last_crash"), "2026-12-01T03:36:47.588Z");
    try (Stream<Path> all = Files.walk(dsn)) {
      files = all.filter(Files::isRegularFile).sorted().toList();
    }
    assertThat(files).hasSizeGreaterThanOrEqualTo(21);
  }

  /** Reads and renders all, and checks what it takes. */
  private static Report read(Path directory, long size) throws IOException {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    Report report = SentryFiles.read(directory).get(0).toReport();
    report.toJson();
    report.toText();
    report.scope();
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated).isLessThan(FIXED_BYTES + BYTES_PER_BYTE * size);
    return report;
  }

  /** A directory with that file alone, so that many can be read. */
  private Path alone(Path file) throws IOException {
    Path directory = Files.createTempDirectory(temp, "alone");
    Path copy = directory.resolve(dsn.relativize(file).toString());
    Files.createDirectories(copy.getParent());
    Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
    // So that there is always something of the SDK's.
    Files.writeString(directory.resolve("previous_session.json"), "{}");
    return copy;
  }

  private Path root(Path copy, Path file) {
    Path root = copy;
    for (int i = 0; i < dsn.relativize(file).getNameCount(); i++) {
      root = root.getParent();
    }
    return root;
  }

  @Test
  void everyByteFlippedCostsNoMoreThanTheElementItIsIn() throws IOException {
    for (Path file : files) {
      Path copy = alone(file);
      Path root = root(copy, file);
      byte[] bytes = Files.readAllBytes(copy);
      boolean isTrail = file.endsWith("breadcrumbs.json");
      int end = bytes.length;
      while (end > 0 && bytes[end - 1] == 0) {
        end--; // a ring's empty part; a few of it are enough
      }
      List<String> whole = messages(read(root, bytes.length));
      for (int i = 0; i < Math.min(bytes.length, end + 40); i++) {
        for (int mask : isTrail ? new int[] {0x01, 0x10, 0x80} : new int[] {0x80}) {
          bytes[i] ^= (byte) mask;
          Files.write(copy, bytes);
          Report report = read(root, bytes.length);
          if (isTrail) {
            List<String> found = messages(report);
            assertThat(whole.stream().filter(found::contains).count())
                .as("%s, offset %d, mask %x", file.getFileName(), i, mask)
                .isGreaterThanOrEqualTo(whole.size() - 1);
            assertThat(found).hasSizeLessThanOrEqualTo(whole.size() + 1);
          }
          bytes[i] ^= (byte) mask;
        }
      }
    }
  }

  private static List<String> messages(Report report) {
    return report.trail().stream().map(Breadcrumb::message).toList();
  }

  @Test
  void everyTruncationIsRead() throws IOException {
    for (Path file : files) {
      Path copy = alone(file);
      Path root = root(copy, file);
      byte[] bytes = Files.readAllBytes(copy);
      for (int size = 0; size < bytes.length; size++) {
        Files.write(copy, Arrays.copyOf(bytes, size));
        Report report = read(root, size);
        assertThat(report.findings()).isNotNull();
      }
    }
  }

  @Test
  void randomDamageIsRead() throws IOException {
    long seed = Long.getLong("cairn.sentry.fuzz.seed", System.nanoTime());
    int rounds = Integer.getInteger("cairn.sentry.fuzz.rounds", 300);
    Random random = new Random(seed);
    List<byte[]> originals = new ArrayList<>();
    for (Path file : files) {
      originals.add(Files.readAllBytes(file));
    }
    for (int round = 0; round < rounds; round++) {
      long size = 0;
      for (int i = 0; i < files.size(); i++) {
        byte[] bytes = damaged(originals, i, random);
        size += bytes.length;
        Files.write(files.get(i), bytes);
      }
      try {
        read(dsn, size);
      } catch (RuntimeException | Error e) {
        throw new AssertionError("-Dcairn.sentry.fuzz.seed=" + seed + ", round " + round, e);
      }
    }
  }

  private static byte[] damaged(List<byte[]> originals, int index, Random random) {
    byte[] bytes = originals.get(index).clone();
    for (int i = random.nextInt(4); i > 0 && bytes.length > 0; i--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(7)) {
        case 0 -> bytes[at] = (byte) random.nextInt();
        case 1 -> bytes = Arrays.copyOf(bytes, at);
        case 2 -> Arrays.fill(bytes, at, Math.min(bytes.length, at + 50), (byte) random.nextInt());
        case 3 -> bytes = Arrays.copyOf(bytes, bytes.length + random.nextInt(5_000));
        case 4 -> {
          byte[] other = originals.get(random.nextInt(originals.size()));
          int length = Math.min(other.length, bytes.length - at);
          System.arraycopy(other, 0, bytes, at, length);
        }
        case 5 -> {
          for (int j = at; j < Math.min(bytes.length, at + 8); j++) {
            bytes[j] = (byte) (random.nextBoolean() ? 0 : -1);
          }
        }
        default -> {
          String tokens = "{}[]\",:\\0-e";
          bytes[at] = (byte) tokens.charAt(random.nextInt(tokens.length()));
        }
      }
    }
    return bytes;
  }
}
