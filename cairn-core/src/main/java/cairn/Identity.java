package cairn;

import cairn.format.CborWriter;
import cairn.format.KeyCache;
import cairn.storage.HostId;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.LocalDate;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Who records: the facts that a reader needs to judge a run, read once at its start. */
final class Identity {
  private static final int MAX_TEXT_BYTES = 256;

  private Identity() {}

  /** {@return the process id, as this process's own pid namespace has it, or -1} */
  static long pid() {
    String self = ProcFile.link("/proc/self");
    try {
      // ProcessHandle costs a cold JVM some milliseconds.
      return self != null ? Long.parseLong(self) : ProcessHandle.current().pid();
    } catch (NumberFormatException | SecurityException | UnsupportedOperationException e) {
      return -1;
    }
  }

  /**
   * {@return 64 bits that no other run has} From the kernel's generator: {@code SecureRandom} costs
   * a cold JVM 20 ms and more, and secrecy is not the point.
   */
  static long nonce() {
    long nonce = System.nanoTime() * 0x9E3779B97F4A7C15L ^ System.currentTimeMillis();
    try (InputStream random = new FileInputStream("/dev/urandom")) {
      byte[] bytes = new byte[8];
      if (random.read(bytes) == bytes.length) {
        for (byte b : bytes) {
          nonce = nonce * 257 + b;
        }
      }
    } catch (IOException | SecurityException e) {
      nonce ^= new SplittableRandom().nextLong();
    }
    return nonce;
  }

  /** {@return {@code yyyyMMdd-HHmmss-SSS-pid-xxxxxxxx}, UTC: sorts by start time} */
  static String runId(long wallMillis, long pid, long nonce) {
    StringBuilder id = new StringBuilder(40);
    long days = Math.floorDiv(wallMillis, 86_400_000L);
    int millis = (int) Math.floorMod(wallMillis, 86_400_000L);
    LocalDate date = LocalDate.ofEpochDay(days);
    digits(id, date.getYear(), 4);
    digits(id, date.getMonthValue(), 2);
    digits(id, date.getDayOfMonth(), 2);
    id.append('-');
    digits(id, millis / 3_600_000, 2);
    digits(id, millis / 60_000 % 60, 2);
    digits(id, millis / 1_000 % 60, 2);
    id.append('-');
    digits(id, millis % 1_000, 3);
    id.append('-').append(Math.max(0, pid)).append('-');
    for (int shift = 28; shift >= 0; shift -= 4) {
      id.append(Character.forDigit((int) (nonce >>> shift) & 15, 16));
    }
    return id.toString();
  }

  private static void digits(StringBuilder text, int value, int count) {
    String digits = Integer.toString(value);
    for (int i = digits.length(); i < count; i++) {
      text.append('0');
    }
    text.append(digits);
  }

  /** Encodes the identity and returns its length. */
  static int encode(
      byte[] bytes,
      int limit,
      Recorder.Builder builder,
      String runId,
      long pid,
      boolean mapped,
      Clock clock) {
    CborWriter out = new CborWriter(bytes, new KeyCache());
    out.reset(0, limit - 1);
    out.beginMap();
    text(out, "runId", runId);
    text(out, "app", builder.app());
    text(out, "release", builder.release());
    text(out, "environment", builder.environment());
    number(out, "pid", pid);
    number(out, "wallMillis", clock.wallMillis());
    number(out, "nanos", clock.nanos());
    text(out, "durability", builder.durability().toString());
    text(out, "mode", mapped ? "mapped" : "copy");
    text(out, "cairn", Version.TEXT);
    text(out, "bootId", ProcFile.text("/proc/sys/kernel/random/boot_id"));
    text(out, "host", ProcFile.text("/proc/sys/kernel/hostname"));
    text(out, "pidNamespace", ProcFile.link("/proc/self/ns/pid"));
    number(out, "processStart", processStart());
    text(out, "javaVersion", System.getProperty("java.version"));
    text(out, "javaVendor", System.getProperty("java.vendor"));
    text(out, "javaHome", System.getProperty("java.home"));
    text(out, "os", os());
    text(out, "workingDirectory", System.getProperty("user.dir"));
    JvmFlags flags = JvmFlags.ofThisProcess();
    text(out, "errorFile", flags.value("ErrorFile"));
    text(out, "heapDumpPath", flags.value("HeapDumpPath"));
    flags(out, flags);
    text(out, "launcher", System.getenv("CAIRN_LAUNCHER"));
    text(out, "hostId", HostId.ofThisMachine());
    cgroup(out);
    out.key("hooksFile");
    out.bool(true);
    out.limit(out.limit() + 1);
    out.end();
    return out.position();
  }

  private static void text(CborWriter out, String key, @Nullable String value) {
    if (value == null) {
      return;
    }
    int start = out.position();
    if (!out.key(key) || out.textCut(value, MAX_TEXT_BYTES) == CborWriter.NONE) {
      out.position(start);
    }
  }

  private static void number(CborWriter out, String key, long value) {
    int start = out.position();
    if (value == ProcFile.UNKNOWN || !out.key(key) || !out.integer(value)) {
      out.position(start);
    }
  }

  private static String os() {
    return System.getProperty("os.name")
        + ' '
        + System.getProperty("os.version")
        + ' '
        + System.getProperty("os.arch");
  }

  /** Field 22 of /proc/self/stat: ticks after boot. Tells a reused pid from this one. */
  private static long processStart() {
    try (ProcFile stat = ProcFile.open("/proc/self/stat", 1024)) {
      return stat.read().field(stat.afterLast(')'), 19);
    }
  }

  /** Which flags that end a JVM, or say that it ran out of memory, are set. */
  private static void flags(CborWriter out, JvmFlags flags) {
    int start = out.position();
    // One byte more than the map's own end: the array's.
    out.limit(out.limit() - 1);
    boolean begun = out.key("flags") && out.beginArray();
    for (String name : JvmFlags.NOTED) {
      if (begun && flags.isSet(name)) {
        begun = out.textCut(name, MAX_TEXT_BYTES) != CborWriter.NONE;
      }
    }
    out.limit(out.limit() + 1);
    if (begun) {
      out.end();
    } else {
      out.position(start);
    }
  }

  /** Where the memory controller counts this process, so that a reader on the host can look. */
  private static void cgroup(CborWriter out) {
    String directory = Cgroup.ofThisProcess().directory();
    long inode = Cgroup.inode(directory);
    if (inode != ProcFile.UNKNOWN) {
      text(out, "cgroup", directory);
      number(out, "cgroupInode", inode);
    }
  }
}
