package cairn.sentry;

import io.sentry.protocol.SentryId;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Sentry's envelopes on disk; it does not say itself whether it could write one. */
final class CachedEnvelopes {
  /** An envelope's first line has the id of its event. */
  private static final int HEAD_BYTES = 1_024;

  private CachedEnvelopes() {}

  static boolean hasEvent(Path cache, SentryId id) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(cache, "*.envelope")) {
      for (Path file : files) {
        if (head(file).contains(id.toString())) {
          return true;
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      return false; // then the answer counts
    }
    return false;
  }

  private static String head(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return new String(in.readNBytes(HEAD_BYTES), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return ""; // sent and deleted meanwhile
    }
  }
}
