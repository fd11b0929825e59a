package cairn.sentry;

import cairn.report.Run;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What became of a run at Sentry: a small file beside the stored reports, {@code
 * <app>/reports/<run>.sentry}. Any thread; two that write at once leave one of both.
 *
 * <p>A run that Sentry has is not sent again. One that was refused is, after a pause that doubles
 * with each refusal from 10 min to 24 h, until 30 days after the first: what Sentry gets later than
 * that it gives another date.
 */
public final class SentryMark {
  /** Of its name. */
  public static final String ENDING = ".sentry";

  static final Duration FIRST_PAUSE = Duration.ofMinutes(10);
  static final Duration LONGEST_PAUSE = Duration.ofHours(24);
  static final Duration EXPIRY = Duration.ofDays(30);

  private static final String DELIVERED = "delivered";
  private static final String REFUSED = "refused";
  private static final String NONE_NEEDED = "none";

  private static final int MAX_BYTES = 4_096;
  private static final FileAttribute<?>[] NONE = {};

  private final Path file;

  private SentryMark(Path file) {
    this.file = file;
  }

  /** {@return that of a run} Reads nothing yet. */
  public static SentryMark of(Run run) {
    return new SentryMark(run.storedReport().resolveSibling(run.id() + ENDING));
  }

  /** What the file says. */
  private record Content(
      String state, String to, @Nullable Instant first, int refusals, Instant next) {
    boolean isRefused() {
      return state.equals(REFUSED);
    }
  }

  /** {@return whether Sentry has the run} */
  public boolean isDelivered() {
    Content content = read();
    return content != null && content.state().equals(DELIVERED);
  }

  /** {@return whether the run was refused, and has not been taken since} */
  public boolean isRefused() {
    Content content = read();
    return content != null && content.isRefused();
  }

  /**
   * {@return when to send the run: now or in the past if it is due; {@link Instant#MAX} if never,
   * as Sentry has it, has refused it for too long, or there is nothing to send}
   *
   * @param to name of the endpoint: what another one refused says nothing
   */
  public Instant due(String to) {
    Content content = read();
    if (content == null) {
      return Instant.EPOCH;
    }
    if (!content.isRefused()) {
      return Instant.MAX;
    }
    return content.to().equals(to) ? content.next() : Instant.EPOCH;
  }

  /**
   * Says that Sentry has the run.
   *
   * @param to name of the endpoint
   */
  public void delivered(Instant at, String to) throws IOException {
    write(DELIVERED + ": " + at + "\nto: " + line(to) + "\n");
  }

  /** Says that there is nothing to send: the run ended in order. */
  public void notNeeded(Instant at) throws IOException {
    write(NONE_NEEDED + ": " + at + "\n");
  }

  /**
   * Says that it was refused, and when to send it again.
   *
   * @param reply why
   * @param to name of the endpoint
   * @return when it is due again; {@link Instant#MAX} if never
   */
  public Instant refused(Instant at, SentryReply reply, String to) throws IOException {
    Content before = read();
    boolean isFirst =
        before == null || !before.isRefused() || !before.to().equals(to) || before.first() == null;
    Instant first = isFirst || before == null || before.first() == null ? at : before.first();
    int refusals = isFirst || before == null ? 1 : before.refusals() + 1;
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(refusals - 1, 10));
    Instant next = at.plus(pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause);
    if (next.isAfter(first.plus(EXPIRY))) {
      next = Instant.MAX;
    }
    write(
        REFUSED
            + ": "
            + at
            + "\nto: "
            + line(to)
            + "\nfirst: "
            + first
            + "\nrefusals: "
            + refusals
            + "\nnext: "
            + (next.equals(Instant.MAX) ? "never" : next)
            + "\nreply: "
            + reply.outcome().name().toLowerCase(Locale.ROOT)
            + ", "
            + line(reply.text())
            + "\n");
    return next;
  }

  private static String line(String text) {
    StringBuilder line = new StringBuilder();
    text.codePoints()
        .limit(500)
        .forEach(c -> line.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return line.toString();
  }

  /** {@return null if there is none, or none that can be read: then it is sent} */
  private @Nullable Content read() {
    String text;
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) > MAX_BYTES) {
        return null;
      }
      text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return null;
    }
    String state = "";
    String to = "";
    Instant first = null;
    Instant next = Instant.EPOCH;
    int refusals = 1;
    for (String line : text.split("\n", -1)) {
      int colon = line.indexOf(": ");
      String value = colon < 0 ? "" : line.substring(colon + 2);
      try {
        switch (colon < 0 ? "" : line.substring(0, colon)) {
          case DELIVERED, REFUSED, NONE_NEEDED -> state = line.substring(0, colon);
          case "to" -> to = value;
          case "first" -> first = Instant.parse(value);
          case "next" -> next = value.equals("never") ? Instant.MAX : Instant.parse(value);
          case "refusals" -> refusals = Math.max(1, Integer.parseInt(value));
          default -> {}
        }
      } catch (DateTimeException | NumberFormatException e) {
        // Written by a newer version or by hand: what is unreadable is as if it weren't there.
        next = Instant.EPOCH;
      }
    }
    return state.isEmpty() ? null : new Content(state, to, first, refusals, next);
  }

  private void write(String lines) throws IOException {
    Path reports = file.getParent();
    boolean isPosix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
    if (reports != null && !Files.isDirectory(reports, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectories(reports, mode(isPosix, "rwx------"));
    }
    Path unfinished =
        file.resolveSibling(".new-" + file.getFileName() + "-" + ProcessHandle.current().pid());
    Files.deleteIfExists(unfinished);
    try (FileChannel channel =
        FileChannel.open(
            unfinished,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            mode(isPosix, "rw-------"))) {
      ByteBuffer bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      // Else a power loss could leave an empty file of the final name.
      channel.force(false);
    }
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static FileAttribute<?>[] mode(boolean isPosix, String permissions) {
    return isPosix
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : NONE;
  }
}
