package cairn.report;

import cairn.Redaction;
import cairn.format.BoxScrubber;
import cairn.format.Secrets;
import cairn.storage.DirectoryLock;
import cairn.storage.PrivateFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** One run: one process lifetime and its directory. Immutable; any thread. */
public final class Run {
  /** Holds the header, the identity, the life cycle and the heartbeat. */
  private static final int HEAD_BYTES = 64 * 1024;

  /** In a run's directory: the parts that other class loaders of its process have recorded. */
  private static final String PARTS = "parts";

  /** A recorder opened again and again must not cost every reader a box each. */
  private static final int MAX_PARTS = 16;

  private final Path directory;
  private final String app;
  private final String id;

  Run(Path directory, String app, String id) {
    this.directory = directory;
    this.app = app;
    this.id = id;
  }

  /** {@return the run id: sorts by start time} */
  public String id() {
    return id;
  }

  /** {@return the name of the application's directory} */
  public String app() {
    return app;
  }

  /** {@return the run's directory} */
  public Path directory() {
    return directory;
  }

  /**
   * {@return whether the process is alive, looked up at each call; never waits}
   *
   * <p>Asks the run's lock, and if that is free, whether the process is still there: a lock is lost
   * when anything in the process opens and closes the lock file. Where there is none to ask, or the
   * run is on another machine, a sign of life in the last 5 s counts.
   */
  public boolean isRunning() {
    return isRunning(new LocalHost());
  }

  boolean isRunning(HostFacts host) {
    Liveness liveness = Liveness.of(directory);
    if (liveness == Liveness.ALIVE) {
      return true;
    }
    try {
      Salvage head = head();
      if (Judge.stillLives(head, host)) {
        return true;
      }
      return (liveness == Liveness.UNKNOWN || Judge.isElsewhere(head, host))
          && Judge.isYoung(head, host.now());
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Reads the evidence, salvages and judges it. Allocates about the size of the box and what is in
   * it.
   *
   * @throws IOException if there is no readable box
   */
  public Report report() throws IOException {
    return report(new LocalHost());
  }

  /**
   * Judges with what a witness says as well; writes nothing.
   *
   * @param witness such as {@code Witness.by("me").exitStatus(137)}
   * @return as {@link #report()}
   * @throws IOException if there is no readable box
   */
  public Report report(Witness witness) throws IOException {
    Objects.requireNonNull(witness, "witness");
    return report(new LocalHost(), witness);
  }

  Report report(HostFacts host) throws IOException {
    return report(host, null);
  }

  private Report report(HostFacts host, @Nullable Witness witness) throws IOException {
    // Before the box is read: a process that ends in between would look killed otherwise.
    Liveness liveness = Liveness.of(directory);
    boolean living = liveness == Liveness.ALIVE;
    Remains remains = Remains.read(directory, living);
    Salvage salvage = new Salvage(remains.box(), boxName(), living);
    salvage.findings.addAll(0, remains.findings());
    joinParts(salvage, living);
    String recorded = Salvage.text(salvage.identity, "runId");
    if (recorded != null && !recorded.equals(id)) {
      salvage.findings.add(
          new Finding(
              Finding.Severity.INFO,
              "IDNT",
              "run id is not the directory's: recorded=" + recorded + ", directory=" + id));
    }
    Traces traces = Traces.in(directory);
    if (witness != null) {
      traces = traces.with(Statement.of(witness, salvage, host));
    }
    return new Judge(salvage, liveness, host, traces).report(id, app);
  }

  /** Adds what recorders of other class loaders of the process have recorded. */
  private void joinParts(Salvage salvage, boolean living) {
    List<Path> parts = parts();
    if (parts.size() > MAX_PARTS) {
      salvage.findings.add(
          new Finding(
              Finding.Severity.WARNING,
              PARTS,
              "parts are not read: count="
                  + (parts.size() - MAX_PARTS)
                  + ", limit="
                  + MAX_PARTS
                  + " (the first are)"));
    }
    for (Path part : parts.subList(0, Math.min(parts.size(), MAX_PARTS))) {
      String name = PARTS + "/" + part.getFileName();
      try {
        Remains remains = Remains.read(part, living);
        Salvage other = new Salvage(remains.box(), part.resolve("box").toString(), living);
        other.findings.addAll(0, remains.findings());
        salvage.join(other, name);
      } catch (IOException e) {
        salvage.findings.add(
            new Finding(Finding.Severity.WARNING, name, "part is not readable: " + e.getMessage()));
      }
    }
  }

  /** {@return the directories of the parts, the first that was opened first} */
  private List<Path> parts() {
    List<Path> parts = new ArrayList<>();
    Path directory = this.directory.resolve(PARTS);
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "[0-9]*")) {
        for (Path entry : entries) {
          if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            parts.add(entry);
          }
        }
      } catch (IOException | DirectoryIteratorException e) {
        return List.of(); // as if there were none: the rest of the run is worth more
      }
    }
    parts.sort(null);
    return parts;
  }

  /**
   * {@return who records, or recorded} Reads only the beginning of the box.
   *
   * @throws IOException if there is no readable box
   */
  public RunIdentity identity() throws IOException {
    return Report.identity(id, app, head());
  }

  /**
   * {@return whether the run is, or was, on another machine than this process} What a lock says is
   * of no use then, and neither is what this machine counts. Not if anything is unknown. Reads only
   * the beginning of the box.
   *
   * <p>The same boot id is the same machine. Another one is another machine if its host id is
   * another ({@code CAIRN_HOST_ID}, else from {@code /etc/machine-id}), or, where one of the two is
   * unknown, its host name.
   *
   * @throws IOException if there is no readable box
   */
  public boolean isElsewhere() throws IOException {
    return Judge.isElsewhere(head(), new LocalHost());
  }

  /**
   * {@return whether the box says that the run ended in order, or the process lives} Reads only the
   * beginning of the box, where {@link #report} reads all of it.
   *
   * @throws IOException if there is no readable box
   */
  public boolean hasEndMarker() throws IOException {
    return "CLEAN".equals(Salvage.text(head().life, "state")) || isRunning();
  }

  private Salvage head() throws IOException {
    return new Salvage(
        Remains.readBox(directory.resolve("box"), HEAD_BYTES, true), boxName(), true);
  }

  /**
   * Writes down, beside the box, what can be known of this death only now: when it was seen, the
   * kernel's counts of OOM kills, the exit status if the witness has it; and keeps what would
   * vanish: a copy of the JVM's hs_err file and of its performance counters, without command lines
   * and properties. Later reports judge with it. Does not touch the box.
   *
   * <p>Any thread of any process; each witness's first statement stays. A death in the middle of it
   * leaves the whole statement or none.
   *
   * @param witness who saw what
   * @return false if that witness has spoken already
   * @throws IOException if the directory can't be written to, or there is no readable box
   * @throws IllegalStateException if the run is alive
   */
  public boolean witness(Witness witness) throws IOException {
    return witness(witness, new LocalHost());
  }

  boolean witness(Witness witness, HostFacts host) throws IOException {
    Objects.requireNonNull(witness, "witness");
    requireDead(host);
    requireOwnDirectory(directory);
    Path file = directory.resolve(Statement.fileName(witness));
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    Salvage head = head();
    // Before the statement: who finds one does nothing more.
    keepWhatVanishes(head, host);
    return PrivateFiles.createWhole(file, Statement.of(witness, head, host).toBytes());
  }

  private void keepWhatVanishes(Salvage head, HostFacts host) {
    CrashEvidence.Found crash = new CrashEvidence(head, host, directory).find();
    Path counters = PerfCopy.find(head, host);
    try {
      if (crash != null) {
        CrashCopy.copy(crash.path(), directory.resolve(CrashEvidence.COPY));
      }
    } catch (IOException e) {
      // It stays where it is, and is looked for there.
    }
    try {
      if (counters != null) {
        PerfCopy.copy(counters, directory.resolve(PerfCopy.COPY));
      }
    } catch (IOException e) {
      // The verdict does without.
    }
  }

  /** {@return where the report of this run is kept once it was delivered} */
  public Path storedReport() {
    return reports().resolve(id + ".json");
  }

  private Path reports() {
    return directory.resolveSibling(Runs.REPORTS);
  }

  /**
   * Delivers the report of this death, unless that was done, and keeps it as {@link #storedReport}.
   *
   * <p>Any number of processes may do so at a time: one delivers, the others see that it was done.
   * At least once: who dies between delivery and storing it leaves it to the next, with the same
   * run id in the report.
   *
   * @param delivery called at most once, under a lock over all runs of the application
   * @return false if it was delivered before
   * @throws DeliveryInProgressException if another process delivers a run of this application: try
   *     again
   * @throws IOException if there is no readable box, or from {@code delivery} and from storing
   * @throws IllegalStateException if the run is alive
   */
  public boolean deliver(Delivery delivery) throws IOException {
    Objects.requireNonNull(delivery, "delivery");
    if (Files.exists(storedReport(), LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    requireDead(new LocalHost());
    PrivateFiles.createDirectories(reports(), PrivateFiles.isPosix(directory));
    DirectoryLock lock;
    try {
      lock = DirectoryLock.take(reports(), ".lock", "reports");
    } catch (DirectoryLock.HeldException e) {
      throw new DeliveryInProgressException(e);
    }
    try (lock) {
      if (Files.exists(storedReport(), LinkOption.NOFOLLOW_LINKS)) {
        return false;
      }
      Report report = report();
      delivery.deliver(report);
      store(report);
      return true;
    }
  }

  private void store(Report report) throws IOException {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    report.writeJson(json);
    PrivateFiles.replaceWhole(storedReport(), json.toByteArray());
  }

  /**
   * Makes the run belong to one process, of any number that try.
   *
   * @param adopter says who, in the file
   * @return false if it belongs to another
   * @throws IOException if that can't be written down
   */
  boolean adopt(String adopter) throws IOException {
    PrivateFiles.createDirectories(reports(), PrivateFiles.isPosix(directory));
    return PrivateFiles.createWhole(
        adoption(), ("adopter: " + adopter + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private Path adoption() {
    return reports().resolve(id + ".adopted");
  }

  /** {@return the id of the run whose process adopted this one, empty if unknown; null if none} */
  @Nullable String adopter() {
    Map<String, String> lines = Statement.lines(adoption());
    return lines == null ? null : lines.getOrDefault("adopter", "");
  }

  /**
   * Erases from the box what no report shows, and redacts in it what {@code redaction} says is
   * secret.
   *
   * <p>Erased are old values of the scope, closed spans, older laps of the trail, and all bytes
   * that prove nothing: what is damaged is gone afterwards. Redacted are values, as the recorder
   * does it, but in the same number of bytes. Everything else that the report says stays as it was;
   * it adds a finding that the box was scrubbed. A box in which there is nothing to do is not
   * touched.
   *
   * <p>A journal of the run is first put into the box, where that is older, and deleted once the
   * box is replaced. A report that was kept of the run ({@link #storedReport}) is made anew.
   *
   * <p>Writes a new box beside the old one, forces it and renames it over the old one: a death in
   * between, or power loss, leaves one of them whole. No other file of the run's directory is
   * touched or looked into: an hs_err file or a core dump holds what it held. The blocks of the old
   * file are freed, not overwritten.
   *
   * @param redaction {@link Redaction#none} to erase only
   * @return what was done
   * @throws IOException if there is no readable box, it cannot be replaced, or another scrub is at
   *     work: the box is then as it was, unless only its directory could not be forced
   * @throws IllegalStateException if the run is alive
   */
  public Scrubbed scrub(Redaction redaction) throws IOException {
    return scrub(redaction, new LocalHost(), step -> {});
  }

  Scrubbed scrub(Redaction redaction, HostFacts host, IntConsumer steps) throws IOException {
    Objects.requireNonNull(redaction, "redaction");
    requireDead(host);
    requireOwnDirectory(directory);
    Path appDirectory = directory.getParent();
    if (appDirectory != null) {
      requireOwnDirectory(appDirectory);
    }
    Scrubbed done = scrub(directory, redaction, host, steps);
    for (Path part : parts()) {
      done = sum(done, scrub(part, redaction, host, steps));
    }
    if (Files.exists(storedReport(), LinkOption.NOFOLLOW_LINKS)) {
      store(report(host)); // it shows what the box showed when it was delivered
    }
    return done;
  }

  private static Scrubbed scrub(
      Path directory, Redaction redaction, HostFacts host, IntConsumer steps) throws IOException {
    try (BoxReplacement replacement = new BoxReplacement(directory, steps)) {
      Remains remains = Remains.read(directory, false);
      BoxScrubber.Result result = scrubbed(directory, remains, redaction, host);
      if (result.changed() || remains.isRebuilt()) {
        replacement.replace(result.image());
      }
      boolean hadJournal = replacement.deleteJournal();
      return summary(result, remains, hadJournal);
    }
  }

  private static Scrubbed sum(Scrubbed one, Scrubbed other) {
    return new Scrubbed(
        one.changed() || other.changed(),
        one.valuesRedacted() + other.valuesRedacted(),
        one.bytesErased() + other.bytesErased());
  }

  /**
   * {@return what {@link #scrub} would do} Writes nothing.
   *
   * @throws IOException if there is no readable box
   * @throws IllegalStateException if the run is alive
   */
  public Scrubbed scrubPreview(Redaction redaction) throws IOException {
    Objects.requireNonNull(redaction, "redaction");
    HostFacts host = new LocalHost();
    requireDead(host);
    Scrubbed done = scrubPreview(directory, redaction, host);
    for (Path part : parts()) {
      done = sum(done, scrubPreview(part, redaction, host));
    }
    return done;
  }

  private static Scrubbed scrubPreview(Path directory, Redaction redaction, HostFacts host)
      throws IOException {
    Remains remains = Remains.read(directory, false);
    return summary(
        scrubbed(directory, remains, redaction, host), remains, Remains.hasJournal(directory));
  }

  private void requireDead(HostFacts host) {
    if (isRunning(host)) {
      throw new IllegalStateException(
          "run is alive: dir=" + directory + " (scrub it when it ended)");
    }
  }

  private static void requireOwnDirectory(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(
          "not a directory of its own: dir=" + directory + " (name the place it points to)");
    }
  }

  private static BoxScrubber.Result scrubbed(
      Path directory, Remains remains, Redaction redaction, HostFacts host) throws IOException {
    return BoxScrubber.scrub(
        remains.box(),
        directory.resolve("box").toString(),
        Secrets.of(redaction),
        host.now().toEpochMilli());
  }

  private static Scrubbed summary(BoxScrubber.Result result, Remains remains, boolean hasJournal) {
    return new Scrubbed(
        result.changed() || remains.isRebuilt() || hasJournal,
        result.valuesRedacted(),
        result.bytesErased());
  }

  private String boxName() {
    return directory.resolve("box").toString();
  }

  @Override
  public String toString() {
    return app + "/" + id;
  }
}
