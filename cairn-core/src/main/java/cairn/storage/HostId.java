package cairn.storage;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What tells one machine from another, whatever their host names. */
public final class HostId {
  /*
   * machine-id(5) asks not to show the id itself, so what is kept is a hash of it. A container often
   * has none, or one that came with its image and is the same everywhere: so an id counts only where
   * both the writer and the reader have one, and CAIRN_HOST_ID (in Kubernetes spec.nodeName) goes
   * before it.
   */
  /** What an id begins with that nobody gave. */
  public static final String DERIVED = "machine-";

  private static final int MAX_LENGTH = 100;

  private HostId() {}

  /**
   * {@return the system property {@code cairn.host.id}, else the variable {@code CAIRN_HOST_ID},
   * else a hash of {@code /etc/machine-id}, else null}
   */
  public static @Nullable String ofThisMachine() {
    String set = System.getProperty("cairn.host.id");
    if (set == null || set.isBlank()) {
      set = System.getenv("CAIRN_HOST_ID");
    }
    if (set != null && !set.isBlank()) {
      String text = set.strip();
      return text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) : text;
    }
    try (FileInputStream in = new FileInputStream("/etc/machine-id")) {
      String id = new String(in.readNBytes(MAX_LENGTH), StandardCharsets.UTF_8).strip();
      return id.isEmpty() || id.equals("uninitialized") ? null : hash(id);
    } catch (IOException | SecurityException e) {
      return null;
    }
  }

  /** FNV-1a of 64 bits: cheap in a cold JVM; it need not withstand anybody who knows the id. */
  static String hash(String id) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : ("cairn:" + id).getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xFF)) * 0x100000001b3L;
    }
    return DERIVED + Long.toHexString(hash);
  }
}
