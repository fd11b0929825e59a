package cairn.cli;

import java.io.IOException;
import java.nio.file.Path;

/**
 * One way to put an event down, from its values to where it ends up.
 *
 * @param id its name in JSON
 * @param name its name in the table
 * @param text what one event takes, in words
 * @param threads how many put events down at the same time
 * @param maxBytes it ends when its events have this many, or with the time
 * @param diskBytes the most that it writes, warm-up and what is written ahead included
 * @param opener makes what is measured
 */
record ProfileLayer(
    String id,
    String name,
    String text,
    int threads,
    long maxBytes,
    long diskBytes,
    Opener opener) {

  /** Makes what is measured. */
  interface Opener {
    /**
     * {@return what takes the events}
     *
     * @param directory empty, and the layer's own
     */
    Sink open(Path directory) throws IOException;
  }

  /** Takes events; where the layer has several threads, from all of them. */
  interface Sink {
    /** Puts one event down. What it takes is what is measured. */
    void put(ProfileEvent event) throws IOException;

    /** Brings to its end what {@link #put} left to others; counts for events per second. */
    default void finish() throws IOException {}

    /** Ends it; not measured. */
    default void close() throws IOException {}
  }
}
