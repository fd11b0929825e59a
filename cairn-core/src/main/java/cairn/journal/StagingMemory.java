package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.MappedFile;
import cairn.storage.PrivateFiles;
import cairn.storage.Region;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;

/** Where the staging lies: a mapped file, or what tests put in its place. */
interface StagingMemory {
  /**
   * Makes a new staging file in place of the old one, complete before it has its name.
   *
   * @param header its first bytes
   * @param size of the file
   * @return null if the file system can't be mapped: then there is no such file
   */
  @Nullable Region create(byte[] header, int size) throws IOException;

  /** Removes the file: all it held is durable. */
  void delete() throws IOException;

  /** A file in the journal's directory. */
  final class OfDirectory implements StagingMemory {
    private static final int FILL_CHUNK = 4096;

    private final Path file;
    private final Path unfinished;

    OfDirectory(Path directory) {
      file = directory.resolve(JournalLayout.STAGING_NAME);
      unfinished = directory.resolve(".new-" + JournalLayout.STAGING_NAME);
    }

    @Override
    public @Nullable Region create(byte[] header, int size) throws IOException {
      boolean interrupted = Thread.interrupted(); // it would close the channel
      boolean done = false;
      try {
        Files.deleteIfExists(unfinished);
        PrivateFiles.create(unfinished, PrivateFiles.isPosix(unfinished)).close();
        ByteBuffer mapped = MappedFile.isSafe(unfinished) ? fillAndMap(header, size) : null;
        if (mapped == null) {
          Files.deleteIfExists(unfinished);
          Files.deleteIfExists(file);
          return null;
        }
        Files.move(
            unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        done = true;
        return new Region(mapped);
      } catch (IOException e) {
        throw new IOException(
            "staging file can't be made: file=" + file + ", size=" + size + ": " + e.getMessage(),
            e);
      } finally {
        if (!done) {
          Files.deleteIfExists(unfinished); // a full disk needs every byte
        }
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    private @Nullable ByteBuffer fillAndMap(byte[] header, int size) throws IOException {
      if (!Files.isRegularFile(unfinished, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException("not a regular file: file=" + unfinished);
      }
      try (RandomAccessFile access = new RandomAccessFile(unfinished.toFile(), "rw")) {
        PrivateFiles.fill(access, size, FILL_CHUNK);
        access.seek(0);
        access.write(header);
        return MappedFile.map(access.getChannel(), size);
      }
    }

    @Override
    public void delete() throws IOException {
      Files.deleteIfExists(file);
    }
  }
}
