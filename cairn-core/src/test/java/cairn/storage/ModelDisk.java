package cairn.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A directory in memory that knows what a power loss may leave of it, and that can be made to fail.
 *
 * <p>Written and not forced: every sector may show any content it had since it was last forced, or
 * the latest, in any order across sectors and files, and a file any length it had. Not forced by
 * {@link #forceDirectory}: every creation, renaming and removal may have happened or not, each in
 * one piece, in any order. A name that is there shows a file of which only what was forced is sure.
 *
 * <p>Process death alone loses nothing: {@link #afterProcessDeath}. Any thread, one at a time.
 */
public final class ModelDisk implements Storage {
  /*
   * Harsher than a real disk on purpose. ext4 with data=ordered keeps directory operations in order
   * and never shows a length before its content; a writer that is right here needs neither.
   *
   * Steps. Each change has a number, and each possible content the number of the change that made
   * it. So the images that a disk leaves which keeps the order of writes are "as of step n" for
   * every n: these are always among the images, beside all, none, all but one and only one. Where
   * the combinations are few, every one is handed over; else random ones fill up the limit.
   */

  /** Kinds of operation; reading ones can fail too. */
  public enum Operation {
    LIST,
    OPEN,
    READ,
    CLOSE,
    CREATE,
    RENAME,
    DELETE,
    FORCE_DIRECTORY,
    WRITE,
    WRITE_FORCED,
    FORCE;

    /** {@return whether it changes something} */
    public boolean changes() {
      return CHANGES.contains(this);
    }
  }

  private static final Set<Operation> CHANGES = EnumSet.range(Operation.CREATE, Operation.FORCE);

  /** Ways to fail. Where one makes no sense for an operation, that is an {@link #IO_ERROR}. */
  public enum Fault {
    /** Nothing is done: EIO. */
    IO_ERROR,
    /** Nothing is done, or half of a write: ENOSPC. */
    NO_SPACE,
    /** An odd part of a write is done: EIO. */
    SHORT_WRITE,
    /** All is done, forced too, and still it reports an error. */
    DONE_BUT_REPORTED,
    /**
     * A force fails, and what it should have forced counts as clean from then on: reads show it, no
     * later force writes it. Linux does this.
     */
    FORCE_DROPS,
    /** Nothing is done and the file is closed, as an interrupt does to a channel. */
    INTERRUPTED;

    /** {@return what can fail in this way in particular} */
    public Set<Operation> operations() {
      return switch (this) {
        case IO_ERROR, DONE_BUT_REPORTED -> CHANGES;
        case NO_SPACE -> EnumSet.of(Operation.CREATE, Operation.WRITE, Operation.WRITE_FORCED);
        case SHORT_WRITE -> EnumSet.of(Operation.WRITE, Operation.WRITE_FORCED);
        case FORCE_DROPS -> EnumSet.of(Operation.FORCE, Operation.WRITE_FORCED);
        case INTERRUPTED -> EnumSet.of(Operation.WRITE, Operation.WRITE_FORCED, Operation.FORCE);
      };
    }
  }

  /** What the directory has gone through since it was forced. */
  private record NameChange(
      int step, @Nullable String removed, @Nullable String added, ModelFile file) {}

  private final int sectorBytes;
  private final Map<String, ModelFile> names = new TreeMap<>();
  private final Map<String, ModelFile> forcedNames = new TreeMap<>();
  private final List<NameChange> changes = new ArrayList<>();
  private final List<byte[]> recycled = new ArrayList<>();
  private final Map<Operation, Integer> counts = new EnumMap<>(Operation.class);
  private final List<String> trace = new ArrayList<>();
  private boolean showsStaleBlocks;
  private int step;
  private @Nullable Runnable onStep;

  private EnumSet<Operation> faulty = EnumSet.noneOf(Operation.class);
  private @Nullable Fault fault;
  private int untilFault;
  private boolean faultStays;
  private int faultsHit;

  public ModelDisk() {
    this(512);
  }

  /**
   * An empty directory.
   *
   * @param sectorBytes what the device writes in one piece: 512 or 4,096
   */
  public ModelDisk(int sectorBytes) {
    this.sectorBytes = sectorBytes;
  }

  /** New files may show content of removed ones until their own is forced. */
  public ModelDisk showStaleBlocks() {
    showsStaleBlocks = true;
    return this;
  }

  /** Calls this after every change, also inside an operation; may look at images, not change. */
  public synchronized void onStep(@Nullable Runnable action) {
    onStep = action;
  }

  /** {@return how many operations there were} */
  public synchronized int operations() {
    return counts.values().stream().mapToInt(Integer::intValue).sum();
  }

  public synchronized int operations(Operation kind) {
    return counts.getOrDefault(kind, 0);
  }

  /** {@return each operation that changed or opened something, in words} */
  public synchronized List<String> trace() {
    return List.copyOf(trace);
  }

  /** {@return how many changes there were, the parts of a write counted singly} */
  public synchronized int steps() {
    return step;
  }

  /**
   * Makes one operation fail.
   *
   * @param nth 1 for the next operation of these kinds
   */
  public synchronized ModelDisk fail(Fault how, Set<Operation> kinds, int nth) {
    fault = how;
    faulty = EnumSet.copyOf(kinds);
    untilFault = nth;
    faultStays = false;
    return this;
  }

  /** As {@link #fail}, and every later one of these kinds fails too, until {@link #heal}. */
  public synchronized ModelDisk failFrom(Fault how, Set<Operation> kinds, int nth) {
    fail(how, kinds, nth);
    faultStays = true;
    return this;
  }

  public synchronized ModelDisk heal() {
    fault = null;
    return this;
  }

  /** {@return how many operations failed on demand} */
  public synchronized int faultsHit() {
    return faultsHit;
  }

  // Storage

  @Override
  public synchronized List<String> list() throws IOException {
    begin(Operation.LIST, "list", null);
    return List.copyOf(names.keySet());
  }

  @Override
  public synchronized Output create(String name) throws IOException {
    Fault now = begin(Operation.CREATE, "create " + name, null);
    if (names.containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    ModelFile file = new ModelFile(sectorBytes);
    change(new NameChange(++step, null, name, file));
    end(now, name);
    return new ModelOutput(name, file);
  }

  @Override
  public synchronized Output open(String name) throws IOException {
    begin(Operation.OPEN, "open " + name, null);
    return new ModelOutput(name, existing(name));
  }

  @Override
  public synchronized Input read(String name) throws IOException {
    begin(Operation.OPEN, null, null);
    return new ModelInput(name, existing(name));
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    Fault now = begin(Operation.RENAME, "rename " + from + " to " + to, null);
    change(new NameChange(++step, from, to, existing(from)));
    end(now, from);
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    Fault now = begin(Operation.DELETE, "delete " + name, null);
    ModelFile file = names.get(name);
    if (file != null) {
      recycled.addAll(0, file.sectors());
      change(new NameChange(++step, name, null, file));
    }
    end(now, name);
  }

  @Override
  public synchronized void forceDirectory() throws IOException {
    Fault now = begin(Operation.FORCE_DIRECTORY, "force directory", null);
    changes.clear();
    forcedNames.clear();
    forcedNames.putAll(names);
    step++;
    stepped();
    end(now, "directory");
  }

  @Override
  public String toString() {
    return "model disk";
  }

  private ModelFile existing(String name) throws NoSuchFileException {
    ModelFile file = names.get(name);
    if (file == null) {
      throw new NoSuchFileException(name);
    }
    return file;
  }

  private void change(NameChange change) {
    changes.add(change);
    apply(names, change);
    stepped();
  }

  private static void apply(Map<String, ModelFile> to, NameChange change) {
    if (change.removed() != null) {
      to.remove(change.removed(), change.file());
    }
    if (change.added() != null) {
      to.put(change.added(), change.file());
    }
  }

  private void stepped() {
    Runnable action = onStep;
    if (action != null) {
      action.run();
    }
  }

  /**
   * Counts an operation, and fails it where nothing is to be done first.
   *
   * @return the fault that is still to come, by {@link #end}
   */
  private @Nullable Fault begin(
      Operation kind, @Nullable String words, @Nullable ModelOutput output) throws IOException {
    if (output != null && output.closed && kind != Operation.CLOSE) {
      throw new ClosedChannelException();
    }
    counts.merge(kind, 1, Integer::sum);
    Fault now = null;
    if (fault != null && faulty.contains(kind) && --untilFault <= 0) {
      now = fault;
      faultsHit++;
      if (!faultStays) {
        fault = null;
      }
    }
    if (words != null) {
      trace.add(now == null ? words : words + ": " + now);
    }
    if (now == null || now == Fault.DONE_BUT_REPORTED && kind.changes()) {
      return now;
    }
    boolean write = kind == Operation.WRITE || kind == Operation.WRITE_FORCED;
    if (write && (now == Fault.NO_SPACE || now == Fault.SHORT_WRITE)) {
      return now;
    }
    if (now == Fault.FORCE_DROPS && output != null) {
      if (kind == Operation.FORCE) {
        output.file.dropDirty();
      } else if (write) {
        return now;
      }
    }
    if (now == Fault.INTERRUPTED && output != null) {
      output.closed = true;
      throw new ClosedByInterruptException();
    }
    throw error(now, String.valueOf(words));
  }

  private static void end(@Nullable Fault now, String where) throws IOException {
    if (now != null) {
      throw error(now, where);
    }
  }

  private static IOException error(Fault fault, String where) {
    String words =
        fault == Fault.NO_SPACE ? "No space left on device" : "Input/output error (" + fault + ")";
    return new IOException(where + ": " + words);
  }

  private final class ModelOutput implements Output {
    private final String name;
    private final ModelFile file;
    private boolean closed;

    ModelOutput(String name, ModelFile file) {
      this.name = name;
      this.file = file;
    }

    @Override
    public void write(long position, byte[] bytes, int from, int length) throws IOException {
      synchronized (ModelDisk.this) {
        Fault now = begin(Operation.WRITE, words("write", position, length), this);
        change(now, position, bytes, from, length);
        end(now, name);
      }
    }

    @Override
    public void writeForced(long position, byte[] bytes, int from, int length) throws IOException {
      synchronized (ModelDisk.this) {
        Fault now = begin(Operation.WRITE_FORCED, words("write forced", position, length), this);
        change(now, position, bytes, from, length);
        if (now == Fault.FORCE_DROPS) {
          file.dropDirty();
        } else if (now == null || now == Fault.DONE_BUT_REPORTED) {
          file.force(position, length);
          step++;
          stepped();
        }
        end(now, name);
      }
    }

    /** In up to four steps: the first sector, half of them, all but the last, all. */
    private void change(@Nullable Fault now, long position, byte[] bytes, int from, int length) {
      int count = length;
      if (now == Fault.NO_SPACE) {
        count = length / 2;
      } else if (now == Fault.SHORT_WRITE) {
        count = length * 2 / 3 | 1;
      }
      int done = 0;
      for (int end : pauses(position, Math.min(count, length))) {
        file.write(++step, position + done, bytes, from + done, end - done, stale());
        done = end;
        stepped();
      }
    }

    private Set<Integer> pauses(long position, int length) {
      Set<Integer> ends = new LinkedHashSet<>();
      int first = (int) (sectorBytes - position % sectorBytes);
      int sectors = (Math.max(0, length - first) + sectorBytes - 1) / sectorBytes;
      for (int sector : new int[] {0, sectors / 2, sectors - 1, sectors}) {
        int end = Math.min(length, first + sector * sectorBytes);
        if (end > 0) {
          ends.add(end);
        }
      }
      return ends;
    }

    private String words(String verb, long position, int length) {
      return verb + " " + name + " " + position + "+" + length;
    }

    @Override
    public void force() throws IOException {
      synchronized (ModelDisk.this) {
        Fault now = begin(Operation.FORCE, "force " + name, this);
        file.forceAll();
        step++;
        stepped();
        end(now, name);
      }
    }

    @Override
    public void close() throws IOException {
      synchronized (ModelDisk.this) {
        boolean before = closed;
        closed = true;
        if (!before) {
          begin(Operation.CLOSE, null, this);
        }
      }
    }
  }

  private List<byte[]> stale() {
    return showsStaleBlocks ? recycled : List.of();
  }

  private final class ModelInput implements Input {
    private final String name;
    private final ModelFile file;
    private boolean closed;

    ModelInput(String name, ModelFile file) {
      this.name = name;
      this.file = file;
    }

    @Override
    public long size() throws IOException {
      synchronized (ModelDisk.this) {
        checkOpen();
        return file.length();
      }
    }

    @Override
    public int read(long position, byte[] into, int from, int length) throws IOException {
      synchronized (ModelDisk.this) {
        checkOpen();
        begin(Operation.READ, null, null);
        return file.read(position, into, from, length);
      }
    }

    private void checkOpen() throws IOException {
      if (closed) {
        throw new IOException("file is closed: name=" + name);
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  // A file as it is mapped, and files as tests put them there

  /**
   * Maps a file: each store is a change of its own, and no force says anything about it. The file
   * must not be written in another way while it is mapped. Where it has many undecided sectors,
   * power loss leaves all old, all new or a random mix.
   */
  public synchronized Region map(String name) throws IOException {
    ModelFile file = existing(name);
    file.isCoarse = true;
    return new MappedRegion(ByteBuffer.wrap(file.read()), file);
  }

  private final class MappedRegion extends Region {
    private static final int WORD = 8;

    private final ModelFile file;

    MappedRegion(ByteBuffer buffer, ModelFile file) {
      super(buffer);
      this.file = file;
    }

    @Override
    public void putLongPlain(int offset, long value) {
      super.putLongPlain(offset, value);
      note(offset, Long.BYTES);
    }

    @Override
    public void putIntPlain(int offset, int value) {
      super.putIntPlain(offset, value);
      note(offset, Integer.BYTES);
    }

    @Override
    public void putBytesPlain(int offset, byte[] source, int from, int length) {
      super.putBytesPlain(offset, source, from, length);
      note(offset, length);
    }

    @Override
    public void putLongRelease(int offset, long value) {
      if (offset % WORD != 0) {
        throw new AssertionError("release store is not aligned: offset=" + offset);
      }
      super.putLongRelease(offset, value);
      note(offset, Long.BYTES);
    }

    /** Three steps at most, each at a multiple of a word: copies have no order of their own. */
    private void note(int offset, int length) {
      synchronized (ModelDisk.this) {
        byte[] bytes = new byte[length];
        getBytesPlain(offset, bytes, 0, length);
        int firstWord = Math.min(length, WORD - offset % WORD);
        int middle = Math.max(firstWord, (offset + length / 2) / WORD * WORD - offset);
        int done = 0;
        for (int end : new LinkedHashSet<>(List.of(firstWord, middle, length))) {
          if (end > done) {
            file.write(++step, offset + done, bytes, done, end - done, List.of());
            done = end;
            stepped();
          }
        }
      }
    }
  }

  /** Puts a file there, durable, in place of one of that name. */
  public synchronized ModelDisk put(String name, byte[] bytes) {
    ModelFile file = new ModelFile(sectorBytes);
    file.write(step, 0, bytes, 0, bytes.length, List.of());
    file.forceAll();
    names.put(name, file);
    forcedNames.put(name, file);
    return this;
  }

  /** {@return the content of a file as a read shows it} */
  public synchronized byte[] bytes(String name) {
    ModelFile file = names.get(name);
    if (file == null) {
      throw new AssertionError("no such file: name=" + name + ", files=" + names.keySet());
    }
    return file.read();
  }

  /** {@return all files as reads show them} */
  public synchronized Map<String, byte[]> contents() {
    Map<String, byte[]> contents = new LinkedHashMap<>();
    names.forEach((name, file) -> contents.put(name, file.read()));
    return contents;
  }

  /** {@return whether a power loss now could take anything} */
  public synchronized boolean isAllForced() {
    return changes.isEmpty() && names.values().stream().noneMatch(ModelFile::hasDirty);
  }

  // What deaths leave

  /**
   * {@return the disk as the next process finds it: everything that was written is there, and still
   * only what was forced survives a power loss}
   */
  public synchronized ModelDisk afterProcessDeath() {
    ModelDisk copy = new ModelDisk(sectorBytes);
    copy.showsStaleBlocks = showsStaleBlocks;
    copy.step = step;
    copy.recycled.addAll(recycled);
    Map<ModelFile, ModelFile> files = new LinkedHashMap<>();
    names.forEach((name, file) -> copy.names.put(name, copied(files, file)));
    forcedNames.forEach((name, file) -> copy.forcedNames.put(name, copied(files, file)));
    for (NameChange change : changes) {
      copy.changes.add(
          new NameChange(
              change.step(), change.removed(), change.added(), copied(files, change.file())));
    }
    return copy;
  }

  private static ModelFile copied(Map<ModelFile, ModelFile> files, ModelFile file) {
    return files.computeIfAbsent(file, ModelFile::new);
  }

  /**
   * Hands over what a power loss now may leave: all of it if that is not more than the limit, else
   * the telling ones and random ones.
   *
   * @return how many images there were
   */
  public synchronized int crashImages(int limit, Random random, Consumer<ModelDisk> reader) {
    return new PowerLoss(forcedNames, changes.stream().map(ModelDisk::nameEdit).toList())
        .images(limit, random, files -> reader.accept(durable(files)));
  }

  private static PowerLoss.NameEdit nameEdit(NameChange change) {
    return new PowerLoss.NameEdit(change.step(), files -> apply(files, change));
  }

  private ModelDisk durable(Map<String, ModelFile> files) {
    ModelDisk disk = new ModelDisk(sectorBytes);
    disk.showsStaleBlocks = showsStaleBlocks;
    disk.names.putAll(files);
    disk.forcedNames.putAll(files);
    return disk;
  }
}
