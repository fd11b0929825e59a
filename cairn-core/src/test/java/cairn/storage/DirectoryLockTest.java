package cairn.storage;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readers look whether a directory is held; that must disturb neither its owner nor the next. */
@Timeout(120)
class DirectoryLockTest {
  private static final Path LOCKS = Path.of("/proc/locks");
  private static final int ROUNDS = 300;

  @TempDir Path directory;

  /** Looks at a directory until its input ends. */
  static final class Looker {
    public static void main(String[] args) throws IOException {
      Path directory = Path.of(args[0]);
      System.out.println("looks");
      while (System.in.available() == 0) {
        DirectoryLock.isHeld(directory);
      }
      System.out.println("end");
    }
  }

  @Test
  void takenWhileAThreadOfTheSameJvmLooksItIsKeptAndSeen() throws Exception {
    DirectoryLock.take(directory, "lock", "journal").close();
    AtomicBoolean stop = new AtomicBoolean();
    Thread[] lookers = new Thread[2];
    for (int i = 0; i < lookers.length; i++) {
      lookers[i] =
          new Thread(
              () -> {
                while (!stop.get()) {
                  DirectoryLock.isHeld(directory);
                }
              });
      lookers[i].start();
    }
    try {
      for (int i = 0; i < ROUNDS; i++) {
        try (DirectoryLock lock = DirectoryLock.take(directory, "lock", "journal")) {
          assertThat(lock).isNotNull();
          assertThat(DirectoryLock.isHeld(directory)).isTrue();
          assertThat(kernelSaysHeld()).as("round %d", i).isTrue();
        }
      }
    } finally {
      stop.set(true);
      for (Thread looker : lookers) {
        looker.join();
      }
    }
    assertThat(DirectoryLock.isHeld(directory)).isFalse();
  }

  @Test
  void takenWhileAnotherProcessLooksItIsNeverRefused() throws Exception {
    DirectoryLock.take(directory, "lock", "journal").close();
    Process looker = ChildJvm.start(List.of(), Looker.class, directory.toString());
    try {
      assertThat(looker.getInputStream().readNBytes(5)).asString().isEqualTo("looks");
      for (int i = 0; i < ROUNDS; i++) {
        DirectoryLock.take(directory, "lock", "journal").close();
      }
      looker.getOutputStream().write('\n');
      looker.getOutputStream().flush();
      assertThat(new String(looker.getInputStream().readAllBytes())).endsWith("end\n");
    } finally {
      looker.destroyForcibly();
    }
  }

  /** Java believes in a lock that the kernel has dropped; so the kernel is asked. */
  private boolean kernelSaysHeld() throws IOException {
    if (!Files.isReadable(LOCKS)) {
      System.out.println("NOT ASKED, no " + LOCKS + ": whether the kernel still holds the lock");
      return true;
    }
    String mine = " " + ProcessHandle.current().pid() + " ";
    String inode = ":" + Files.getAttribute(directory.resolve("lock"), "unix:ino") + " ";
    try (var lines = Files.lines(LOCKS)) {
      return lines.anyMatch(
          line -> line.contains("WRITE" + mine) && line.contains(inode) && !line.contains("->"));
    }
  }
}
