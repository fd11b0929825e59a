package cairn.storage;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.storage.ModelDisk.Fault;
import cairn.storage.ModelDisk.Operation;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What the other tests rely on: the model disk loses just what a disk may lose. */
class ModelDiskTest {
  private static final int SECTOR = 512;

  private final ModelDisk disk = new ModelDisk();

  private static byte[] filled(char letter, int length) {
    return String.valueOf(letter).repeat(length).getBytes(ISO_8859_1);
  }

  /** A file as one letter for each sector; '-' for zeros, '?' for a mix. */
  private static String letters(byte[] bytes) {
    StringBuilder letters = new StringBuilder();
    for (int at = 0; at < bytes.length; at += SECTOR) {
      String sector = new String(bytes, at, Math.min(SECTOR, bytes.length - at), ISO_8859_1);
      boolean same = sector.chars().allMatch(c -> c == sector.charAt(0));
      letters.append(!same ? '?' : sector.charAt(0) == 0 ? '-' : sector.charAt(0));
    }
    return letters.toString();
  }

  private static String shown(ModelDisk image) {
    Set<String> files = new TreeSet<>();
    for (Map.Entry<String, byte[]> file : image.contents().entrySet()) {
      files.add(file.getKey() + "=" + letters(file.getValue()));
    }
    return String.join(" ", files);
  }

  private Set<String> images(int limit) {
    Set<String> images = new TreeSet<>();
    disk.crashImages(limit, new Random(1), image -> images.add(shown(image)));
    return images;
  }

  private Storage.Output durableFile(String name, String sectors) throws IOException {
    Storage.Output file = disk.create(name);
    for (int i = 0; i < sectors.length(); i++) {
      file.write(i * SECTOR, filled(sectors.charAt(i), SECTOR), 0, SECTOR);
    }
    file.force();
    disk.forceDirectory();
    return file;
  }

  @Test
  void whatIsForcedIsInEveryImage() throws IOException {
    durableFile("a", "xy");

    assertThat(disk.isAllForced()).isTrue();
    assertThat(images(10)).containsExactly("a=xy");
  }

  @Test
  void unforcedSectorsAreThereOrNotEachOnItsOwn() throws IOException {
    Storage.Output file = durableFile("a", "xyz");

    file.write(0, filled('N', 2 * SECTOR), 0, 2 * SECTOR);

    assertThat(disk.isAllForced()).isFalse();
    assertThat(images(10)).containsExactly("a=NNz", "a=Nyz", "a=xNz", "a=xyz");
  }

  @Test
  void aSectorMayShowAnyContentThatItHadSinceItWasForced() throws IOException {
    Storage.Output file = durableFile("a", "x");

    file.write(0, filled('1', SECTOR), 0, SECTOR);
    file.write(0, filled('2', SECTOR), 0, SECTOR);

    assertThat(images(10)).containsExactly("a=1", "a=2", "a=x");
  }

  @Test
  void aForcedWriteSaysNothingOfOtherSectors() throws IOException {
    Storage.Output file = durableFile("a", "xyz");

    file.write(0, filled('N', SECTOR), 0, SECTOR);
    file.write(2 * SECTOR, filled('N', SECTOR), 0, SECTOR);
    file.writeForced(SECTOR, filled('F', SECTOR), 0, SECTOR);

    assertThat(images(10)).containsExactly("a=NFN", "a=NFz", "a=xFN", "a=xFz");
  }

  @Test
  void aLengthMayBeThereBeforeTheContent() throws IOException {
    Storage.Output file = durableFile("a", "x");

    file.write(SECTOR, filled('N', SECTOR), 0, SECTOR);

    assertThat(images(10)).containsExactly("a=x", "a=x-", "a=xN");
  }

  @Test
  void aNewFileMayShowBlocksOfARemovedOne() throws IOException {
    disk.showStaleBlocks();
    durableFile("a", "x").close();
    disk.delete("a");
    disk.forceDirectory();

    Storage.Output file = disk.create("b");
    file.write(0, filled('N', SECTOR), 0, SECTOR);
    disk.forceDirectory();

    assertThat(images(10)).containsExactly("b=", "b=-", "b=N", "b=x");
  }

  @Test
  void anUnforcedNameIsThereOrNotWhateverItsFileHolds() throws IOException {
    Storage.Output file = disk.create("a");
    file.write(0, filled('x', SECTOR), 0, SECTOR);
    file.force();

    assertThat(images(10)).containsExactly("", "a=x");
  }

  @Test
  void renamesAndRemovalsHappenInAnyOrderButInOnePiece() throws IOException {
    durableFile("old", "o").close();
    Storage.Output file = disk.create("new");
    file.write(0, filled('n', SECTOR), 0, SECTOR);
    file.force();
    disk.forceDirectory();

    disk.rename("new", "final");
    disk.delete("old");

    assertThat(images(10)).containsExactly("final=n", "final=n old=o", "new=n", "new=n old=o");
  }

  @Test
  void aRenameOverAFileShowsTheOneOrTheOther() throws IOException {
    durableFile("a", "1").close();
    durableFile("b", "2").close();

    disk.rename("b", "a");

    assertThat(images(10)).containsExactly("a=1 b=2", "a=2");
  }

  @Test
  void processDeathLosesNothingAndForcesNothing() throws IOException {
    Storage.Output file = durableFile("a", "x");
    file.write(0, filled('N', SECTOR), 0, SECTOR);
    disk.create("b");

    ModelDisk next = disk.afterProcessDeath();

    assertThat(shown(next)).isEqualTo("a=N b=");
    Set<String> images = new TreeSet<>();
    next.crashImages(10, new Random(1), image -> images.add(shown(image)));
    assertThat(images).containsExactly("a=N", "a=N b=", "a=x", "a=x b=");
    assertThat(images).isEqualTo(images(10));
  }

  @Test
  void tooManyForEveryImageGivesTheTellingOnes() throws IOException {
    String letters = "abcdefghij";
    Storage.Output file = durableFile("a", letters);
    for (int i = 0; i < letters.length(); i++) {
      file.write(i * SECTOR, filled((char) ('0' + i), SECTOR), 0, SECTOR);
    }

    int[] count = {0};
    List<String> images = new ArrayList<>();
    count[0] = disk.crashImages(200, new Random(1), image -> images.add(shown(image)));

    assertThat(count[0]).isEqualTo(200).isEqualTo(images.size());
    assertThat(images)
        .contains("a=abcdefghij", "a=0123456789", "a=0123efghij", "a=01234f6789", "a=abcde5ghij");
    assertThat(images(1100)).hasSize(1024);
  }

  @Test
  void aDeathInsideAWriteLeavesTheBeginningOfIt() throws IOException {
    Storage.Output file = durableFile("a", "wxyz");
    List<String> seen = new ArrayList<>();
    disk.onStep(() -> seen.add(shown(disk.afterProcessDeath())));

    file.write(0, filled('N', 4 * SECTOR), 0, 4 * SECTOR);

    assertThat(seen).containsExactly("a=Nxyz", "a=NNyz", "a=NNNz", "a=NNNN");
  }

  @Test
  void aForcedWriteIsNotForcedBeforeItEnds() throws IOException {
    Storage.Output file = durableFile("a", "x");
    List<Set<String>> seen = new ArrayList<>();
    disk.onStep(() -> seen.add(images(10)));

    file.writeForced(0, filled('N', SECTOR), 0, SECTOR);

    assertThat(seen).containsExactly(Set.of("a=x", "a=N"), Set.of("a=N"));
  }

  @Test
  void storesIntoAMappedFileAreWritesThatNoForceCovers() throws IOException {
    durableFile("a", "xy").close();
    Region region = disk.map("a");

    region.putBytesPlain(SECTOR, filled('N', SECTOR), 0, SECTOR);

    assertThat(shown(disk)).isEqualTo("a=xN");
    assertThat(images(10)).containsExactly("a=x?", "a=xN", "a=xy");
  }

  @Test
  void eachFaultDoesWhatItSays() throws IOException {
    Storage.Output file = durableFile("a", "wxyz");
    byte[] news = filled('N', 4 * SECTOR);
    Set<Operation> writes = EnumSet.of(Operation.WRITE, Operation.WRITE_FORCED);

    disk.fail(Fault.IO_ERROR, writes, 2);
    file.write(0, filled('w', 1), 0, 1);
    assertThatThrownBy(() -> file.write(0, news, 0, news.length)).hasMessageContaining("error");
    assertThat(letters(disk.bytes("a"))).isEqualTo("wxyz");

    disk.fail(Fault.NO_SPACE, writes, 1);
    assertThatThrownBy(() -> file.write(0, news, 0, news.length)).hasMessageContaining("space");
    assertThat(letters(disk.bytes("a"))).isEqualTo("NNyz");

    disk.fail(Fault.SHORT_WRITE, writes, 1);
    assertThatThrownBy(() -> file.writeForced(0, news, 0, news.length))
        .isInstanceOf(IOException.class);
    assertThat(letters(disk.bytes("a"))).isEqualTo("NN?z");
    assertThat(disk.isAllForced()).isFalse();

    disk.fail(Fault.DONE_BUT_REPORTED, writes, 1);
    assertThatThrownBy(() -> file.writeForced(0, news, 0, news.length))
        .isInstanceOf(IOException.class);
    assertThat(images(10)).containsExactly("a=NNNN");
    assertThat(disk.faultsHit()).isEqualTo(4);
  }

  @Test
  void whatAFailedForceDroppedIsNotWrittenByTheNextOne() throws IOException {
    Storage.Output file = durableFile("a", "xy");
    file.write(0, filled('N', SECTOR), 0, SECTOR);
    disk.fail(Fault.FORCE_DROPS, EnumSet.of(Operation.FORCE), 1);
    assertThatThrownBy(file::force).isInstanceOf(IOException.class);

    file.write(SECTOR, filled('M', SECTOR), 0, SECTOR);
    file.force();

    assertThat(letters(disk.bytes("a"))).isEqualTo("NM");
    assertThat(images(10)).containsExactly("a=NM", "a=xM");

    file.write(0, filled('O', SECTOR), 0, SECTOR);
    file.force();
    assertThat(images(10)).containsExactly("a=OM");
  }

  @Test
  void aDirectoryForceThatFailsMakesNoNameDurable() throws IOException {
    disk.create("a");
    disk.fail(Fault.IO_ERROR, EnumSet.of(Operation.FORCE_DIRECTORY), 1);
    assertThatThrownBy(disk::forceDirectory).isInstanceOf(IOException.class);

    assertThat(images(10)).containsExactly("", "a=");
  }

  @Test
  void anInterruptClosesTheFile() throws IOException {
    Storage.Output file = durableFile("a", "x");
    disk.fail(Fault.INTERRUPTED, EnumSet.of(Operation.FORCE), 1);

    assertThatThrownBy(file::force).isInstanceOf(ClosedByInterruptException.class);
    assertThatThrownBy(file::force).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aFaultThatStaysFailsUntilTheDiskIsHealed() throws IOException {
    Storage.Output file = durableFile("a", "x");
    disk.failFrom(Fault.NO_SPACE, EnumSet.of(Operation.WRITE), 2);

    file.write(0, filled('1', SECTOR), 0, SECTOR);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> file.write(0, filled('2', SECTOR), 0, SECTOR))
          .hasMessageContaining("space");
    }
    disk.heal();
    file.write(0, filled('3', SECTOR), 0, SECTOR);
    assertThat(shown(disk)).isEqualTo("a=3");
  }
}
