package cairn;

import cairn.storage.Storage;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Files in memory whose forced writes can be held back, or made to fail.
 *
 * <p>Any thread. A force counts when it is asked for; while the gate is shut it waits there.
 */
final class GatedStorage implements Storage {
  private final Map<String, byte[]> files = new HashMap<>();

  /** Forces of frames: those of new files and of the directory don't count. */
  final AtomicInteger forces = new AtomicInteger();

  final AtomicInteger created = new AtomicInteger();

  /** How many forces are held back now, or have been: one permit each. */
  final Semaphore arrivals = new Semaphore(0);

  private final Semaphore gate = new Semaphore(0);
  private volatile boolean shut;

  /** The next so many forces of frames fail. */
  final AtomicInteger forcesToFail = new AtomicInteger();

  /** While set, no file can be made. */
  volatile boolean full;

  /** While set, making a file throws what nobody expects. */
  volatile boolean broken;

  void shut() {
    shut = true;
  }

  void open() {
    shut = false;
    gate.release(1 << 20);
  }

  /** Waits until a force is held back. */
  void awaitForce() throws InterruptedException {
    if (!arrivals.tryAcquire(30, TimeUnit.SECONDS)) {
      throw new AssertionError("no force within 30 s");
    }
  }

  /** Lets one force go on. */
  void release() {
    gate.release();
  }

  synchronized void put(String name, byte[] bytes) {
    files.put(name, bytes);
  }

  synchronized byte[] bytes(String name) {
    return files.get(name).clone();
  }

  private void force() throws IOException {
    forces.incrementAndGet();
    if (shut) {
      arrivals.release();
      gate.acquireUninterruptibly();
    }
    if (forcesToFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new IOException("Input/output error");
    }
  }

  @Override
  public synchronized List<String> list() {
    return List.copyOf(files.keySet());
  }

  @Override
  public synchronized Output create(String name) throws IOException {
    if (broken) {
      throw new IllegalStateException("broken");
    }
    if (full) {
      throw new IOException("No space left on device");
    }
    created.incrementAndGet();
    files.put(name, new byte[0]);
    return open(name);
  }

  @Override
  public Output open(String name) {
    return new File(name);
  }

  @Override
  public synchronized Input read(String name) throws NoSuchFileException {
    byte[] found = files.get(name);
    if (found == null) {
      throw new NoSuchFileException(name); // deleted since it was listed
    }
    byte[] bytes = found.clone();
    return new Input() {
      @Override
      public long size() {
        return bytes.length;
      }

      @Override
      public int read(long position, byte[] into, int from, int length) {
        int count = (int) Math.max(0, Math.min(length, bytes.length - position));
        System.arraycopy(bytes, (int) position, into, from, count);
        return count;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public synchronized void rename(String from, String to) {
    files.put(to, files.remove(from));
  }

  @Override
  public synchronized void delete(String name) {
    files.remove(name);
  }

  @Override
  public void forceDirectory() {}

  private synchronized void put(String name, long position, byte[] bytes, int from, int length) {
    byte[] file = files.getOrDefault(name, new byte[0]);
    int end = (int) position + length;
    byte[] longer = file.length >= end ? file : java.util.Arrays.copyOf(file, end);
    System.arraycopy(bytes, from, longer, (int) position, length);
    files.put(name, longer);
  }

  private synchronized String nameNow(String name) {
    return files.containsKey(name) ? name : name.replace(".new-", "");
  }

  private final class File implements Output {
    private final String name;

    File(String name) {
      this.name = name;
    }

    @Override
    public void write(long position, byte[] bytes, int from, int length) {
      put(nameNow(name), position, bytes, from, length);
    }

    @Override
    public void writeForced(long position, byte[] bytes, int from, int length) throws IOException {
      GatedStorage.this.force();
      put(nameNow(name), position, bytes, from, length);
    }

    @Override
    public void force() throws IOException {
      if (name.equals(nameNow(name))) {
        return; // a file in the making
      }
      GatedStorage.this.force();
    }

    @Override
    public void close() {}
  }
}
