package cairn.cli;

import cairn.Durability;
import cairn.Level;
import cairn.Recorder;
import cairn.journal.Journal;
import cairn.journal.WhenFull;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The layers of the write path, each with what the ones before it do. */
final class ProfileLayers {
  static final String ENCODE = "encode";
  static final String BUFFER = "buffer";
  static final String WRITE = "write";
  static final String FORCE_GROWING = "force-growing";
  static final String FORCE = "force";
  static final String BOX = "box";
  static final String BOUNDED_LARGE = "journal-bounded-100";
  static final String BOUNDED_SMALL = "journal-bounded-20";
  static final String POWER = "journal-power";
  static final String POWER_SHARED = "journal-power-threads";

  /** The most that the events of a layer have; those of its warm-up an eighth of that. */
  static final long MAX_BYTES = 32L << 20;

  private static final long FILE_BYTES = MAX_BYTES + MAX_BYTES / 8;
  private static final long BOX_BYTES = 4L << 20;

  /** A frame adds to an event, and two segments may be there before they are filled. */
  private static final long JOURNAL_BYTES = FILE_BYTES + FILE_BYTES / 4 + (10L << 20);

  private static final Duration FORCE_TIMEOUT = Duration.ofSeconds(30);

  /** A disk that takes nothing for so long is full or gone. */
  private static final Duration FULL_TIMEOUT = Duration.ofSeconds(2);

  /** Written over and over, so that a force has no new blocks to note down. */
  private static final int PREALLOCATED_BYTES = 1 << 20;

  private static final int PIECE_BYTES = 4096;

  /** What a BufferedOutputStream holds back by default. */
  static final int BUFFER_BYTES = 8192;

  private ProfileLayers() {}

  /**
   * {@return all layers, in the order of the table}
   *
   * @param threads of the layer that shares its forces
   */
  static List<ProfileLayer> all(int threads) {
    List<ProfileLayer> layers = new ArrayList<>();
    layers.add(
        new ProfileLayer(
            ENCODE, "encode", "values to JSON bytes", 1, Long.MAX_VALUE, 0, directory -> encode()));
    layers.add(
        new ProfileLayer(
            BUFFER,
            "+ stream buffer",
            "the same, and into a BufferedOutputStream of 8 KiB",
            1,
            MAX_BYTES,
            FILE_BYTES,
            directory ->
                stream(
                    new BufferedOutputStream(
                        new FileOutputStream(directory.resolve("log").toFile()), BUFFER_BYTES))));
    layers.add(
        new ProfileLayer(
            WRITE,
            "+ write",
            "encode, and one write() to the kernel",
            1,
            MAX_BYTES,
            FILE_BYTES,
            directory -> stream(new FileOutputStream(directory.resolve("log").toFile()))));
    layers.add(
        new ProfileLayer(
            FORCE_GROWING,
            "+ force, file grows",
            "encode, write(), fsync() of a file that grows",
            1,
            MAX_BYTES,
            FILE_BYTES,
            ProfileLayers::forceGrowing));
    layers.add(
        new ProfileLayer(
            FORCE,
            "+ force, preallocated",
            "encode, write() with O_DSYNC into blocks that exist",
            1,
            MAX_BYTES,
            FILE_BYTES,
            ProfileLayers::forcePreallocated));
    layers.add(
        new ProfileLayer(
            BOX,
            "cairn box, process()",
            "Recorder.breadcrumb: encode, checksum, store into the map",
            1,
            Long.MAX_VALUE,
            BOX_BYTES,
            ProfileLayers::box));
    layers.add(
        journal(
            BOUNDED_LARGE,
            "journal bounded(100)",
            "Journal.append, forced when 100 wait, or one for 100 ms",
            1,
            Durability.bounded(ProfileLedger.LARGE_BATCH, ProfileLedger.DELAY)));
    layers.add(
        journal(
            BOUNDED_SMALL,
            "journal bounded(20)",
            "Journal.append, forced when 20 wait, or one for 100 ms",
            1,
            Durability.bounded(ProfileLedger.SMALL_BATCH, ProfileLedger.DELAY)));
    layers.add(
        journal(
            POWER,
            "journal power()",
            "Journal.append, which returns after its force",
            1,
            Durability.power()));
    layers.add(
        journal(
            POWER_SHARED,
            "journal power() x " + threads,
            "Journal.append from " + threads + " threads, which share forces",
            threads,
            Durability.power()));
    return layers;
  }

  private static ProfileLayer journal(
      String id, String name, String text, int threads, Durability durability) {
    return new ProfileLayer(
        id,
        name,
        text,
        threads,
        MAX_BYTES,
        JOURNAL_BYTES,
        directory -> journal(directory, durability));
  }

  private static ProfileLayer.Sink journal(Path directory, Durability durability)
      throws IOException {
    Journal journal =
        Journal.builder(directory)
            .durability(durability)
            .whenFull(WhenFull.block(FULL_TIMEOUT))
            .open();
    return new ProfileLayer.Sink() {
      @Override
      public void put(ProfileEvent event) throws IOException {
        if (journal.append(event.values()) == Journal.DROPPED) {
          throw new IOException(
              "record was dropped: error="
                  + journal.lastError()
                  + ", counters="
                  + journal.counters());
        }
      }

      @Override
      public void finish() throws IOException {
        if (!journal.force(FORCE_TIMEOUT)) {
          throw new IOException(
              "not forced in time: limit="
                  + FORCE_TIMEOUT.toSeconds()
                  + " s, error="
                  + journal.lastError());
        }
      }

      @Override
      public void close() {
        journal.close();
      }
    };
  }

  private static ProfileLayer.Sink encode() {
    return new ProfileLayer.Sink() {
      private int sum;

      @Override
      public void put(ProfileEvent event) {
        byte[] json = event.toJson();
        sum += json[json.length >> 1];
      }

      @Override
      public void finish() throws IOException {
        // Keeps the encoding from being left out as work without effect.
        if (sum == Integer.MIN_VALUE) {
          throw new IOException("sum=" + sum);
        }
      }
    };
  }

  private static ProfileLayer.Sink stream(OutputStream out) {
    return new ProfileLayer.Sink() {
      @Override
      public void put(ProfileEvent event) throws IOException {
        out.write(event.toJson());
      }

      @Override
      public void finish() throws IOException {
        out.flush();
      }

      @Override
      public void close() throws IOException {
        out.close();
      }
    };
  }

  private static ProfileLayer.Sink forceGrowing(Path directory) throws IOException {
    FileOutputStream out = new FileOutputStream(directory.resolve("log").toFile());
    return new ProfileLayer.Sink() {
      @Override
      public void put(ProfileEvent event) throws IOException {
        out.write(event.toJson());
        out.getFD().sync();
      }

      @Override
      public void close() throws IOException {
        out.close();
      }
    };
  }

  private static ProfileLayer.Sink forcePreallocated(Path directory) throws IOException {
    Path path = directory.resolve("log");
    try (FileOutputStream out = new FileOutputStream(path.toFile())) {
      // In small pieces: a large one makes large folios, of which a force writes more.
      byte[] zeros = new byte[PIECE_BYTES];
      for (int i = 0; i < PREALLOCATED_BYTES / PIECE_BYTES; i++) {
        out.write(zeros);
      }
      out.getFD().sync();
    }
    RandomAccessFile file = new RandomAccessFile(path.toFile(), "rwd");
    return new ProfileLayer.Sink() {
      private int position;

      @Override
      public void put(ProfileEvent event) throws IOException {
        byte[] json = event.toJson();
        if (position + json.length > PREALLOCATED_BYTES) {
          position = 0;
          file.seek(0);
        }
        file.write(json);
        position += json.length;
      }

      @Override
      public void close() throws IOException {
        file.close();
      }
    };
  }

  private static ProfileLayer.Sink box(Path directory) throws IOException {
    Recorder recorder =
        Recorder.builder("cairn-profile")
            .directory(directory)
            .durability(Durability.process())
            .open();
    if (!recorder.isEnabled()) {
      throw new IOException("recorder is disabled: mode=" + recorder.mode());
    }
    return new ProfileLayer.Sink() {
      @Override
      public void put(ProfileEvent event) {
        recorder.breadcrumb(Level.INFO, "profile", "order placed", event.values());
      }

      @Override
      public void close() {
        recorder.close();
      }
    };
  }
}
