package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.ModelDisk;
import cairn.storage.Region;
import cairn.storage.Storage;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The staging file of a journal on a model disk, made in the steps of the real one. */
final class ModelStaging implements StagingMemory {
  private static final String UNFINISHED = ".new-" + JournalLayout.STAGING_NAME;

  private final ModelDisk disk;
  private final boolean isMappable;

  ModelStaging(ModelDisk disk) {
    this(disk, true);
  }

  /**
   * @param isMappable whether the file system is one whose files can be mapped
   */
  ModelStaging(ModelDisk disk, boolean isMappable) {
    this.disk = disk;
    this.isMappable = isMappable;
  }

  @Override
  public @Nullable Region create(byte[] header, int size) throws IOException {
    disk.delete(UNFINISHED);
    if (!isMappable) {
      disk.delete(JournalLayout.STAGING_NAME);
      return null;
    }
    try (Storage.Output file = disk.create(UNFINISHED)) {
      file.write(0, new byte[size], 0, size);
      file.write(0, header, 0, header.length);
    }
    disk.rename(UNFINISHED, JournalLayout.STAGING_NAME);
    return disk.map(JournalLayout.STAGING_NAME);
  }

  @Override
  public void delete() throws IOException {
    disk.delete(JournalLayout.STAGING_NAME);
  }
}
