package cairn.storage;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * The files of one directory, as far as segments need them: every operation that can fail or be cut
 * off by a death goes through here, so that tests can put a disk in its place that loses what was
 * not forced.
 *
 * <p>One writer at a time; readers may be anywhere. An interrupt of the calling thread neither
 * fails an operation nor closes a file.
 */
public interface Storage {
  /** {@return the names in the directory, in no order; empty if there is no directory} */
  List<String> list() throws IOException;

  /**
   * Makes an empty file that must not exist. Its name survives power loss only after {@link
   * #forceDirectory}.
   */
  Output create(String name) throws IOException;

  /** Opens a file that exists for writing into it. */
  Output open(String name) throws IOException;

  /** Opens a file for reading. */
  Input read(String name) throws IOException;

  /** Gives a file another name, atomically; a file of that name is replaced. */
  void rename(String from, String to) throws IOException;

  /** Removes a file; one that isn't there is no error. */
  void delete(String name) throws IOException;

  /** Makes all names as they are now survive power loss. */
  void forceDirectory() throws IOException;

  /** {@return the directory, for messages} */
  @Override
  String toString();

  /** A file that is written to. */
  interface Output extends Closeable {
    /** Writes at that position; survives process death once it returns. */
    void write(long position, byte[] bytes, int from, int length) throws IOException;

    /**
     * As {@link #write}, and survives power loss once it returns: these bytes do, and nothing is
     * said of earlier ones.
     */
    void writeForced(long position, byte[] bytes, int from, int length) throws IOException;

    /** Makes all that was written to this file survive power loss. */
    void force() throws IOException;

    @Override
    void close() throws IOException;
  }

  /** A file that is read. */
  interface Input extends Closeable {
    /** {@return its size now, in bytes} */
    long size() throws IOException;

    /**
     * Reads up to {@code length} bytes from that position.
     *
     * @return how many were read: fewer only at the end of the file
     */
    int read(long position, byte[] into, int from, int length) throws IOException;

    @Override
    void close() throws IOException;
  }
}
