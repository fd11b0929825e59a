package cairn.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk and its model do the same: what is proved on the model holds for the disk. */
class StorageContractTest {
  @TempDir Path directory;

  private List<Storage> both = List.of();

  @BeforeEach
  void makeBoth() {
    both = List.of(new DiskStorage(directory), new ModelDisk());
  }

  private static byte[] read(Storage storage, String name) throws IOException {
    try (Storage.Input input = storage.read(name)) {
      byte[] bytes = new byte[(int) input.size() + 10];
      return Arrays.copyOf(bytes, input.read(0, bytes, 0, bytes.length)).length == 0
          ? new byte[0]
          : Arrays.copyOf(bytes, (int) input.size());
    }
  }

  private static void write(Storage.Output output, long position, String text) throws IOException {
    byte[] bytes = ("<" + text + ">").getBytes(UTF_8);
    output.write(position, bytes, 1, bytes.length - 2);
  }

  private static String text(Storage storage, String name) throws IOException {
    return new String(read(storage, name), UTF_8);
  }

  @Test
  void whatIsWrittenAfterARenameGoesIntoTheRenamedFile() throws IOException {
    for (Storage storage : both) {
      try (Storage.Output output = storage.create("new")) {
        write(output, 0, "one,");
        output.force();
        storage.rename("new", "final");
        storage.forceDirectory();
        write(output, 4, "two,");
        output.writeForced(8, "three".getBytes(UTF_8), 0, 5);
        output.force();
      }
      assertThat(storage.list()).as(storage.getClass().getName()).containsExactly("final");
      assertThat(text(storage, "final")).isEqualTo("one,two,three");
    }
  }

  @Test
  void readersSeeEveryWriteAtOnceAndNoFurtherThanTheEnd() throws IOException {
    for (Storage storage : both) {
      try (Storage.Output output = storage.create("a");
          Storage.Input input = storage.read("a")) {
        byte[] into = new byte[8];
        assertThat(input.size()).isZero();
        assertThat(input.read(0, into, 0, 8)).isZero();
        write(output, 2, "cd");
        assertThat(input.size()).isEqualTo(4);
        assertThat(input.read(0, into, 1, 7)).isEqualTo(4);
        assertThat(into).startsWith(0, 0, 0, 'c', 'd', 0);
        assertThat(input.read(3, into, 0, 8)).isEqualTo(1);
        assertThat(input.read(100, into, 0, 8)).isZero();
        write(output, 0, "ab");
        assertThat(input.read(0, into, 0, 4)).isEqualTo(4);
        assertThat(new String(into, 0, 4, UTF_8)).isEqualTo("abcd");
      }
    }
  }

  @Test
  void aFileIsMadeOnceOpenedOnlyIfItIsThereAndRemovedWithoutComplaint() throws IOException {
    for (Storage storage : both) {
      storage.create("a").close();
      assertThatThrownBy(() -> storage.create("a")).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> storage.open("b")).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> storage.read("b")).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> storage.rename("b", "c")).isInstanceOf(IOException.class);
      storage.delete("a");
      storage.delete("a");
      assertThat(storage.list()).isEmpty();
    }
  }

  @Test
  void aRenameReplacesAndARemovedFileIsReadToItsEnd() throws IOException {
    for (Storage storage : both) {
      try (Storage.Output output = storage.create("a")) {
        write(output, 0, "old");
      }
      try (Storage.Output output = storage.create("b")) {
        write(output, 0, "new");
      }
      try (Storage.Input old = storage.read("a")) {
        storage.rename("b", "a");
        assertThat(text(storage, "a")).isEqualTo("new");
        storage.delete("a");
        byte[] into = new byte[3];
        assertThat(old.read(0, into, 0, 3)).isEqualTo(3);
        assertThat(new String(into, UTF_8)).isEqualTo("old");
      }
      assertThat(storage.list()).isEmpty();
    }
  }

  @Test
  void closingTwiceIsNoErrorAndWritingAfterwardsIsOne() throws IOException {
    for (Storage storage : both) {
      Storage.Output output = storage.create("a");
      output.close();
      output.close();
      assertThatThrownBy(() -> write(output, 0, "x")).isInstanceOf(IOException.class);
      assertThatThrownBy(output::force).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> output.writeForced(0, new byte[1], 0, 1))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void anInterruptFailsNothingAndStaysSet() throws IOException {
    for (Storage storage : both) {
      Thread.currentThread().interrupt();
      try (Storage.Output output = storage.create("a")) {
        write(output, 0, "one");
        output.force();
        output.writeForced(3, "two".getBytes(UTF_8), 0, 3);
        storage.rename("a", "b");
        storage.forceDirectory();
        assertThat(text(storage, "b")).isEqualTo("onetwo");
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
    }
  }

  @Test
  void thousandRandomOperationsLeaveTheSameFiles() throws IOException {
    Random random = new Random(3);
    Storage disk = both.get(0);
    Storage model = both.get(1);
    String[] names = {"a", "b", "c"};
    for (int i = 0; i < 1000; i++) {
      String name = names[random.nextInt(3)];
      String other = names[random.nextInt(3)];
      int kind = random.nextInt(10);
      byte[] bytes = new byte[1 + random.nextInt(1500)];
      random.nextBytes(bytes);
      long position = random.nextInt(3000);
      boolean there = disk.list().contains(name);
      assertThat(model.list().contains(name)).isEqualTo(there);
      for (Storage storage : both) {
        if (kind == 0) {
          storage.delete(name);
        } else if (kind == 1 && there && !name.equals(other)) {
          storage.rename(name, other);
        } else if (kind > 1) {
          try (Storage.Output output = there ? storage.open(name) : storage.create(name)) {
            if (kind < 6) {
              output.write(position, bytes, 0, bytes.length);
            } else {
              output.writeForced(position, bytes, 0, bytes.length);
            }
          }
        }
      }
      if (i % 50 == 0) {
        for (String each : disk.list()) {
          assertThat(read(model, each)).as("%s after %s", each, i).isEqualTo(read(disk, each));
        }
        assertThat(model.list()).containsExactlyInAnyOrderElementsOf(disk.list());
      }
    }
  }
}
