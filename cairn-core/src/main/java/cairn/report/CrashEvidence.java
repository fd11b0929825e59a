package cairn.report;

import cairn.format.CborSlice;
import cairn.report.Evidence.Kind;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds the hs_err file of a run, and says why it is that run's and what it says. One use. */
final class CrashEvidence {
  /*
   * Where a JVM writes it, tried on JDK 17 and 25 for Linux:
   *
   *   1  -XX:ErrorFile, relative to the working directory; %p is the pid, %% a percent sign. What is
   *      there is overwritten. Where it can't be opened (a directory, or in none), as if it weren't set.
   *   2  hs_err_pid<pid>.log in the working directory; what is there is overwritten
   *   3  the same in /tmp. Neither TMPDIR nor java.io.tmpdir changes that.
   *
   * Whose it is: in every container the pid is 1, so on a volume that outlives them lie the files of
   * older processes of the same pid, and of other containers. A file is refused if
   *
   *   - it names another pid;
   *   - the crash was not near the run's last sign of life. Others threads run on, and so does the
   *     beat, while the JVM writes the file, for as long as it may (two minutes);
   *   - the crash, or the last write to the file, was before the run's recorder opened;
   *   - its JVM lived for less than the recorder was seen alive, by the monotonic clock;
   *   - another run of that pid began after this one was last seen and before the file was there;
   *   - its JVM started after the run's recorder opened, or before the run's process started. Between
   *     the two may lie much time: a shell that waits and then becomes the JVM keeps its start.
   *
   * All of it on the clock of the run's last beat, since it may have been set before that: the run's
   * opening is moved there by the monotonic clock. The start of a process counts the time that the
   * machine slept, the monotonic clock does not; where the boot time says another start, the earlier
   * one bounds.
   */

  /** -XX:ErrorLogTimeout is 120 s by default. */
  static final Duration WRITTEN_WITHIN = Duration.ofSeconds(125);

  private static final Duration SEEN_WITHIN = Duration.ofSeconds(60);

  /** The times in the file, and that of the boot, are in whole seconds, cut off. */
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** Clocks of one kernel that are read in different ways. */
  static final Duration SLACK = Duration.ofMillis(50);

  private static final long MILLIS_PER_TICK = 10;
  private static final int MAX_TEXT = 200;

  /** A copy in the run's own directory, made by a witness. */
  static final String COPY = "hs_err.log";

  private final Salvage salvage;
  private final HostFacts host;
  private final @Nullable Path directory;
  private final OptionalLong pid;
  private final @Nullable Instant opened;
  private final List<Evidence> evidence = new ArrayList<>();

  /**
   * The run's.
   *
   * @param path where it is
   * @param file what it says
   * @param isWhole whether pid, time and start are known to be the run's, and the file is complete
   */
  record Found(Path path, CrashFile file, boolean isWhole) {}

  /**
   * Looks nothing up yet.
   *
   * @param directory the run's; null if there is none to look into
   */
  CrashEvidence(Salvage salvage, HostFacts host, @Nullable Path directory) {
    this.salvage = salvage;
    this.host = host;
    this.directory = directory;
    this.pid = Salvage.integer(salvage.identity, "pid");
    this.opened = opened(salvage);
  }

  /** {@return what was found out by {@link #find}} */
  List<Evidence> evidence() {
    return evidence;
  }

  /** {@return the run's hs_err file, null if there is none} */
  @Nullable Found find() {
    for (Path place : places()) {
      CrashFile.Dated dated = host.crashFile(place);
      if (dated == null) {
        continue;
      }
      String name = SafeText.cut(place.toString(), MAX_TEXT);
      CrashFile file = dated.file();
      Instant modified = sane(dated.modified());
      if (file == null) {
        if (distance(modified) == null) {
          add(Kind.MISSING, name + " was written at that time but says nothing: disk full?");
        }
        continue;
      }
      String refused = refusal(file, modified);
      if (refused != null) {
        add(Kind.AGAINST, name + " is another process's: " + refused);
        continue;
      }
      describe(name, file);
      boolean isStartKnown = opened != null && file.startedAt(modified) != null;
      boolean isPidKnown = pid.isPresent() && file.pid.isPresent();
      boolean isWhole =
          isPidKnown
              && isStartKnown
              && processStart() != null
              && file.isComplete
              && file.kind != CrashFile.Kind.UNKNOWN;
      add(
          Kind.FOR,
          "its "
              + (isPidKnown ? "pid, " : "")
              + (isStartKnown ? "start and " : "")
              + "time are this run's");
      return new Found(place, file, isWhole);
    }
    return null;
  }

  /** {@return a time that can be reckoned with} */
  private static Instant sane(Instant time) {
    return time.getEpochSecond() < 0 || time.getEpochSecond() > 1L << 40 ? Instant.EPOCH : time;
  }

  private void add(Kind kind, String text) {
    evidence.add(new Evidence(kind, text));
  }

  // Where

  /** {@return where it could be, likeliest first} */
  Set<Path> places() {
    Set<Path> places = new LinkedHashSet<>();
    if (!Judge.isElsewhere(salvage, host)) {
      addHotSpotPlaces(places);
    }
    if (directory != null) {
      places.add(directory.resolve(COPY));
    }
    return places;
  }

  private void addHotSpotPlaces(Set<Path> places) {
    String configured = Salvage.text(salvage.identity, "errorFile");
    String working = Salvage.text(salvage.identity, "workingDirectory");
    String name = "hs_err_pid" + pid.orElse(0) + ".log";
    try {
      Path base = working == null ? null : Path.of(working);
      if (configured != null && !configured.isEmpty()) {
        Path file = Path.of(withPid(configured, pid));
        if (file.isAbsolute()) {
          places.add(file);
        } else if (base != null) {
          places.add(base.resolve(file));
        }
      }
      if (base != null && pid.isPresent()) {
        places.add(base.resolve(name));
      }
      if (pid.isPresent() && !places.isEmpty()) {
        places.add(Path.of("/tmp").resolve(name));
      }
    } catch (InvalidPathException e) {
      // The path of another system: nothing to look at here.
    }
  }

  /** {@return a file name with {@code %p} and {@code %%} replaced as HotSpot does it} */
  static String withPid(String pattern, OptionalLong pid) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      char next = i + 1 < pattern.length() ? pattern.charAt(i + 1) : 0;
      if (c == '%' && next == '%') {
        out.append('%');
        i++;
      } else if (c == '%' && next == 'p' && pid.isPresent()) {
        out.append(pid.getAsLong());
        i++;
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  /** {@return whether the JVM was told to write it to its console} */
  @Nullable String console() {
    CborSlice flags = salvage.identity.get("flags");
    if (flags != null && flags.value() instanceof List<?> list) {
      for (String flag : List.of("ErrorFileToStdout", "ErrorFileToStderr")) {
        if (list.contains(flag)) {
          return flag;
        }
      }
    }
    return null;
  }

  // Whose

  /** {@return why the file is not the run's; null if it may be} */
  private @Nullable String refusal(CrashFile file, Instant modified) {
    if (file.pid.isPresent() && pid.isPresent() && file.pid.getAsLong() != pid.getAsLong()) {
      return "it is of pid " + file.pid.getAsLong();
    }
    Instant crashed = file.crashedAt(modified);
    String distance = distance(crashed);
    if (distance != null) {
      return distance;
    }
    if (opened == null) {
      return null;
    }
    // A container may be started again within the second; when the file was written is finer.
    if (crashed.plus(SECOND).isBefore(opened) || modified.plus(SLACK).isBefore(opened)) {
      return "that crash was before this run began";
    }
    if (file.elapsed != null && file.elapsed.plus(SLACK).compareTo(lived()) < 0) {
      return "its JVM lived for only " + Names.duration(file.elapsed.toMillis());
    }
    String successor = successor(modified, crashed.plus(SECOND));
    if (successor != null) {
      return "a later run of that pid began before it was written: " + successor;
    }
    Instant started = file.startedAt(modified);
    if (started == null) {
      return null;
    }
    if (started.isAfter(opened.plus(SLACK))) {
      return "its JVM started after this run began";
    }
    Instant process = processStart();
    return process != null && started.plus(SECOND).plus(SLACK).isBefore(process)
        ? "its JVM started before this run's process"
        : null;
  }

  /** {@return for how long the recorder was seen alive, by the monotonic clock} */
  private Duration lived() {
    OptionalLong nanos = Salvage.integer(salvage.identity, "nanos");
    Salvage.Clocks last = salvage.newestClocks;
    return nanos.isEmpty() || last == null || last.nanos() < nanos.getAsLong()
        ? Duration.ZERO
        : Duration.ofNanos(last.nanos() - nanos.getAsLong());
  }

  /**
   * {@return a run of the same pid that began after this one was last seen, and before the file was
   * there} A run that crashed has none: it is dead when its file is written. One that began before
   * is in another container.
   */
  private @Nullable String successor(Instant modified, Instant crashed) {
    Path siblings = directory == null ? null : directory.toAbsolutePath().getParent();
    Instant seen = salvage.lastSeen;
    if (siblings == null || seen == null || pid.isEmpty()) {
      return null;
    }
    Instant written = modified.isBefore(crashed) ? modified : crashed;
    try (DirectoryStream<Path> runs =
        Files.newDirectoryStream(siblings, "*-" + pid.getAsLong() + "-*")) {
      for (Path run : runs) {
        Instant began = Runs.startOf(String.valueOf(run.getFileName()), pid.getAsLong());
        if (began != null && !began.isBefore(seen) && !began.isAfter(written)) {
          return String.valueOf(run.getFileName());
        }
      }
    } catch (IOException | DirectoryIteratorException | SecurityException e) {
      // What can't be listed says nothing.
    }
    return null;
  }

  /** {@return how far a crash is from the last sign of life; null if near enough} */
  private @Nullable String distance(Instant crashed) {
    Instant seen = salvage.lastSeen;
    if (seen == null) {
      return "when this run was last seen is unknown";
    }
    long millis = Duration.between(seen, crashed).toMillis();
    if (millis > SEEN_WITHIN.toMillis()) {
      return "it was written " + Names.duration(millis) + " after the last sign of life";
    }
    if (millis < -WRITTEN_WITHIN.toMillis()) {
      return "it was written " + Names.duration(-millis) + " before the last sign of life";
    }
    return null;
  }

  /** {@return when the recorder opened, on the clock of its last beat} */
  static @Nullable Instant opened(Salvage salvage) {
    OptionalLong wall = Salvage.integer(salvage.identity, "wallMillis");
    OptionalLong nanos = Salvage.integer(salvage.identity, "nanos");
    Salvage.Clocks last = salvage.newestClocks;
    if (nanos.isPresent() && last != null && last.nanos() >= nanos.getAsLong()) {
      return Names.instant(last.wallMillis() - (last.nanos() - nanos.getAsLong()) / 1_000_000);
    }
    return wall.isPresent() ? Names.instant(wall.getAsLong()) : null;
  }

  /** {@return when the process started, or a little before; null if unknown} */
  private @Nullable Instant processStart() {
    Instant start = opened == null ? null : processStart(salvage, opened);
    Instant booted = host.bootedAt();
    String bootId = Salvage.text(salvage.identity, "bootId");
    OptionalLong ticks = Salvage.integer(salvage.identity, "processStart");
    if (start != null && booted != null && bootId != null && ticks.isPresent()) {
      Instant other = booted.plusMillis(ticks.getAsLong() * MILLIS_PER_TICK);
      return bootId.equalsIgnoreCase(host.bootId()) && other.isBefore(start) ? other : start;
    }
    return start;
  }

  /** {@return when the process started, by the monotonic clock; null if unknown} */
  static @Nullable Instant processStart(Salvage salvage, Instant opened) {
    OptionalLong ticks = Salvage.integer(salvage.identity, "processStart");
    OptionalLong nanos = Salvage.integer(salvage.identity, "nanos");
    if (ticks.isEmpty() || nanos.isEmpty() || ticks.getAsLong() > Long.MAX_VALUE / 100) {
      return null;
    }
    long before = nanos.getAsLong() / 1_000_000 - ticks.getAsLong() * MILLIS_PER_TICK;
    return Names.instant(opened.toEpochMilli() - Math.max(0, before));
  }

  // What it says

  private void describe(String name, CrashFile file) {
    add(Kind.FOR, name + " says: " + SafeText.cut(words(file), MAX_TEXT));
    if (file.address != null && !file.isSent()) {
      String code = file.signalCode == null ? "" : " (" + file.signalCode + ")";
      add(Kind.FOR, SafeText.cut("it accessed the address " + file.address + code, MAX_TEXT));
    }
    if (file.isSent()) {
      add(
          Kind.FOR,
          (isOwn(file)
                  ? "the signal was sent by the process itself"
                  : "the signal was sent by kill")
              + ": pid="
              + file.senderPid.getAsLong()
              + (file.senderUid.isPresent() ? ", uid=" + file.senderUid.getAsLong() : ""));
    }
    String thread = thread(file);
    if (thread != null) {
      add(Kind.FOR, SafeText.cut(thread, 2 * MAX_TEXT));
    }
    if (file.compileTask != null) {
      add(Kind.FOR, SafeText.cut("it was compiling " + file.compileTask, MAX_TEXT));
    }
    if (!file.isComplete) {
      add(
          Kind.MISSING,
          "the end of "
              + name
              + ": the disk was full, or the JVM was killed or crashed again while it wrote");
    }
  }

  private static @Nullable String thread(CrashFile file) {
    if (file.threadKind == null && file.javaFrames.isEmpty()) {
      return null;
    }
    StringBuilder text = new StringBuilder("the thread was ");
    text.append(file.threadKind == null ? "unknown" : file.threadKind);
    if (file.threadName != null) {
      text.append(" \"").append(file.threadName).append('"');
    }
    if (file.threadState != null) {
      text.append(' ').append(file.threadState);
    }
    if (!file.javaFrames.isEmpty()) {
      text.append(", in ").append(String.join(" < ", file.javaFrames));
    }
    return text.toString();
  }

  private static boolean isOwn(CrashFile file) {
    return file.pid.isPresent()
        && file.senderPid.isPresent()
        && file.pid.getAsLong() == file.senderPid.getAsLong();
  }

  private static String words(CrashFile file) {
    if (file.kind == CrashFile.Kind.NATIVE_MEMORY) {
      return "insufficient memory: " + refused(file);
    }
    if (file.error == null) {
      return "a fatal error";
    }
    return file.detail == null ? file.error : file.error + ": " + file.detail;
  }

  private static String refused(CrashFile file) {
    String what = file.refusedFor == null ? "" : " for " + file.refusedFor;
    return file.refusedBytes.isEmpty()
        ? "native memory" + what
        : "native memory: " + file.refusedBytes.getAsLong() + " bytes" + what;
  }

  /** {@return the beginning of a headline, ready to print: what happened, in a few words} */
  static String headline(CrashFile file, String qualifier) {
    String thread =
        file.threadName == null ? "" : ", on thread " + SafeText.cut(file.threadName, 60);
    String detail = file.detail == null ? "" : file.detail;
    String what =
        switch (file.kind) {
          case JAVA_MEMORY ->
              "The JVM ended itself for want of Java memory ("
                  + detail.substring(Math.max(0, detail.indexOf("OutOfMemory encountered: ")));
          case NATIVE_MEMORY -> "The JVM crashed for want of memory (" + refused(file);
          case INTERNAL_ERROR -> "The JVM crashed (" + internal(file);
          case SIGNAL -> "The JVM crashed (" + signal(file);
          case UNKNOWN -> "The JVM crashed (its hs_err file is cut off";
        };
    return SafeText.cut(what, MAX_TEXT) + thread + qualifier + ")";
  }

  private static String signal(CrashFile file) {
    String caller = file.caller();
    String in =
        (file.place() == null ? "" : " in " + file.place())
            + (caller == null ? "" : ", called from " + caller);
    if (!file.isSent()) {
      return file.signal + in;
    }
    // Where a signal from outside found the process says nothing.
    return isOwn(file)
        ? file.signal + " sent by the process itself" + in
        : file.signal
            + " sent by kill from pid "
            + file.senderPid.getAsLong()
            + (file.senderUid.isPresent() ? " uid " + file.senderUid.getAsLong() : "");
  }

  private static String internal(CrashFile file) {
    String error = file.error == null ? "internal error" : file.error;
    int pid = error.indexOf(", pid=");
    return (pid < 0 ? error : error.substring(0, pid))
        + (file.detail == null ? "" : ": " + file.detail);
  }
}
