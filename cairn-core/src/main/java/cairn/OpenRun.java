package cairn;

import cairn.format.CounterLayout;
import cairn.format.EncodeLimits;
import cairn.format.Forms;
import cairn.format.KeyCache;
import cairn.format.Secrets;
import cairn.report.Report;
import cairn.storage.DiskStorage;
import cairn.storage.MappedFile;
import cairn.storage.PrivateFiles;
import cairn.storage.Region;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run that is being recorded: its box, its directory, its housekeeper and its end.
 *
 * <p>Any thread.
 */
final class OpenRun {
  /*
   * Phases: RECORDING until the JVM shuts down or the application closes; ENDED from the end of our
   * own shutdown hook, while other hooks and daemon threads may still record; CLOSED after close:
   * nothing is stored any more. What is stored in ENDED leaves the clean mark as it is: see
   * RATIONALE. The housekeeper beats on in ENDED, which tells how long the other hooks took, and
   * ShutdownWatch looks which.
   */
  private static final int RECORDING = 0;
  private static final int ENDED = 1;
  private static final int CLOSED = 2;

  /** How long an end of the run waits for the last force. */
  private static final long LAST_FORCE_NANOS = 2_000_000_000L;

  /**
   * One page a write: a larger write makes a larger folio, and one dirty byte writes all of it
   * back.
   */
  private static final int FILL_CHUNK = 4096;

  final Box box;
  private final RunDirectory directory;

  /** Where the run is seen: {@link #directory}, or that of the run that this is a part of. */
  private final Path seen;

  private final boolean isPart;
  private final @Nullable BoxCopier copier;
  private final @Nullable Committer committer;
  private final LastRun lastRun;
  private final ShutdownWatch shutdownWatch;
  private final @Nullable TerminationMessage message;
  private final Housekeeper housekeeper;
  private final UncaughtHandler uncaughtHandler;
  private final ShutdownHook hook;
  private volatile int phase = RECORDING;

  private OpenRun(
      Box box,
      Path root,
      RunDirectory directory,
      @Nullable Path whole,
      @Nullable BoxCopier copier,
      Recorder.Builder builder) {
    this.box = box;
    this.directory = directory;
    this.isPart = whole != null;
    this.seen = whole != null ? whole : directory.directory();
    this.lastRun = new LastRun(root, seen);
    this.copier = copier;
    Durability durability = builder.durability();
    this.committer =
        durability.needsJournal()
            ? new Committer(
                box, new DiskStorage(directory.directory()), directory.parents(), durability)
            : null;
    this.shutdownWatch = new ShutdownWatch(box.life);
    Path file = builder.terminationMessage();
    this.message =
        file == null
            ? null
            : new TerminationMessage(
                file, runId() + " " + builder.app(), box.spans, box.clock, box.counters);
    this.housekeeper =
        new Housekeeper(box, copier, committer, shutdownWatch, isPart ? null : lastRun, message);
    this.uncaughtHandler = new UncaughtHandler(this);
    this.hook = new ShutdownHook(this);
  }

  /**
   * Creates the run's directory and box and starts to record.
   *
   * @throws IOException if that is not possible; nothing is left behind then
   */
  static OpenRun open(Recorder.Builder builder, Path root, String mode, Clock clock)
      throws IOException {
    // A FileChannel closes itself under an interrupted thread; the interrupt is kept for its owner.
    boolean interrupted = Thread.interrupted();
    try {
      OpenRun run = create(builder, root, mode, clock);
      run.start();
      if (builder.isShared()) {
        SharedRun.offer(run.seen);
      }
      return run;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static OpenRun create(Recorder.Builder builder, Path root, String mode, Clock clock)
      throws IOException {
    long pid = Identity.pid();
    long nonce = Identity.nonce();
    long wallMillis = clock.wallMillis();
    String runId = Identity.runId(wallMillis, pid, nonce);
    Creation creation = new Creation(builder, mode, clock, nonce, pid, runId);
    new Preload().start();
    Path whole = builder.isShared() ? null : SharedRun.offered(pid);
    if (whole != null) {
      try {
        RunDirectory part = RunDirectory.create(whole, SharedRun.PARTS, runId, creation);
        return new OpenRun(
            creation.box(), SharedRun.root(whole), part, whole, creation.copier, builder);
      } catch (IOException e) {
        Log.warnOnce("run of its own, since the shared one can't be joined: dir=" + whole, e);
      }
    }
    RunDirectory directory = RunDirectory.create(root, builder.app(), runId, creation);
    return new OpenRun(creation.box(), root, directory, null, creation.copier, builder);
  }

  /**
   * Loads the classes that encode while the caller waits for the file system: in a cold JVM they
   * cost some 8 ms, which two processors share.
   */
  private static final class Preload extends Thread {
    Preload() {
      super(null, null, "cairn-preload", 0, false);
      setDaemon(true);
      setContextClassLoader(null);
    }

    @Override
    public void run() {
      Region region = new Region(ByteBuffer.allocate(BoxPlan.COPY_UNIT * 2));
      new TwoCopies(region, 0, BoxPlan.COPY_UNIT, 0).write(0);
      KeyCache keys = new KeyCache(Secrets.STANDARD);
      new Scratch(0, BoxPlan.COPY_UNIT, keys, EncodeLimits.DEFAULT, Forms.NONE, false)
          .encoder.value("longer than what is narrowed in a loop");
    }
  }

  /** Fills the box file while its directory still has its temporary name. */
  private static final class Creation implements RunDirectory.BoxWriter {
    private final Recorder.Builder builder;
    private final String mode;
    private final Clock clock;
    private final long nonce;
    private final long pid;
    private final String runId;
    private @Nullable Box box;
    private @Nullable BoxCopier copier;

    Creation(
        Recorder.Builder builder, String mode, Clock clock, long nonce, long pid, String runId) {
      this.builder = builder;
      this.mode = mode;
      this.clock = clock;
      this.nonce = nonce;
      this.pid = pid;
      this.runId = runId;
    }

    Box box() {
      if (box == null) {
        throw new AssertionError();
      }
      return box;
    }

    @Override
    public void write(Path file) throws IOException {
      BoxPlan plan =
          new BoxPlan(nonce, builder.spanSlots(), builder.trailBytes(), builder.scopeBytes());
      ByteBuffer mapped;
      // Not a FileChannel: its writes need direct memory, which small containers run out of.
      try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
        PrivateFiles.fill(access, plan.size, FILL_CHUNK);
        mapped = map(file, access.getChannel(), plan.size);
      }
      Region region = new Region(mapped != null ? mapped : inMemory(plan.size));
      Box created =
          new Box(region, plan, nonce, clock, builder.redaction().secrets, builder.forms());
      byte[] identity = new byte[created.identityLimit()];
      int length =
          Identity.encode(identity, identity.length, builder, runId, pid, mapped != null, clock);
      created.start(identity, length);
      if (mapped == null) {
        BoxCopier copies = new BoxCopier(file, region);
        copies.copy();
        copier = copies;
      }
      box = created;
    }

    private static ByteBuffer inMemory(int size) throws IOException {
      try {
        return ByteBuffer.allocate(size);
      } catch (OutOfMemoryError e) {
        throw new IOException("no memory for a box in copy mode: size=" + size, e);
      }
    }

    /** The mapped file, or null if it must not or can't be mapped. */
    private @Nullable ByteBuffer map(Path file, FileChannel channel, int size) {
      if (mode.equals(Recorder.MODE_COPY)) {
        return null;
      }
      if (!mode.equals(Recorder.MODE_MAPPED) && !MappedFile.isSafe(file)) {
        return null;
      }
      return MappedFile.map(channel, size);
    }
  }

  private void start() {
    if (committer != null) {
      committer.start();
    }
    housekeeper.start();
    if (!isPart) { // the whole notes it already
      uncaughtHandler.install();
    }
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      // Opened during a shutdown: recorded all the same, its end will not be.
    }
  }

  Path directory() {
    return seen;
  }

  String runId() {
    return String.valueOf(seen.getFileName());
  }

  boolean isMapped() {
    return copier == null;
  }

  boolean isOpen() {
    return phase != CLOSED;
  }

  /**
   * Called before every store on behalf of the application.
   *
   * @return whether to go on; then {@link #leave} must follow
   */
  boolean enter() {
    return phase != CLOSED;
  }

  /** Called after it. */
  void leave() {
    if (committer != null) {
      committer.arrived();
    }
    if (phase != RECORDING) {
      leaveLate();
    }
  }

  private void leaveLate() {
    if (phase == ENDED) {
      copyNow(); // the JVM may halt before the housekeeper's next copy
    }
  }

  /** For {@link OpenSpan}; a null key or text does nothing. */
  void setAttribute(long handle, @Nullable String key, int kind, long bits, @Nullable String text) {
    if (key != null && text != null && enter()) {
      box.setAttribute(handle, key, kind, bits, text);
      leave();
    }
  }

  /** For {@link OpenSpan}. */
  void closeSpan(long handle) {
    if (enter()) {
      box.spans.close(handle);
      leave();
    }
  }

  void uncaught(Thread thread, Throwable thrown) {
    if (phase != CLOSED) {
      box.life.uncaught(thread, thrown);
      box.beat();
      tell(thread, thrown);
      if (committer != null) {
        committer.arrived();
      }
      copyNow();
    }
  }

  private void tell(Thread thread, Throwable thrown) {
    try {
      if (message != null) {
        message.uncaught(thread, thrown);
      }
    } catch (Throwable e) {
      box.counters.increment(CounterLayout.MESSAGE_ERRORS); // no memory for it, say
    }
  }

  /**
   * The shutdown hook's work. Bounded: some stores, one safepoint, and where there is a journal a
   * wait of at most {@link #LAST_FORCE_NANOS}.
   */
  void endByShutdown() {
    synchronized (this) {
      if (phase != RECORDING) {
        return;
      }
      LifeCycle.End end = LifeCycle.shutdownReason(shutdownWatch.exit());
      box.life.closing(end, isBlind());
      box.scope.eraseStale();
      box.beat();
      phase = ENDED;
      box.life.clean();
      shutdownWatch.begin();
      copyNow();
      if (message != null) {
        message.ending(end);
      }
    }
    if (committer != null) {
      committer.ending();
      committer.arrived();
      committer.await(LAST_FORCE_NANOS);
    }
  }

  /** {@return whether an exception that nothing caught may have gone by unseen} */
  private boolean isBlind() {
    return !uncaughtHandler.sees() || shutdownWatch.mainHasItsOwnHandler();
  }

  /**
   * {@return whether everything that happened before is forced; waits for it} False under process
   * durability.
   */
  boolean awaitDurable(long nanos) {
    return committer != null && committer.await(nanos);
  }

  /** {@return the report of the run that this one follows} */
  Optional<Report> lastRun() {
    return lastRun.get();
  }

  /** {@return the durability that is in force instead of the one that was asked for, or null} */
  @Nullable String durabilityFailure() {
    return committer == null ? null : committer.failure();
  }

  /**
   * Marks the run as ended and gives its lock up; within a shutdown of the JVM that is left to its
   * end, so that what other hooks do meanwhile is seen.
   */
  void close() {
    boolean interrupted = Thread.interrupted();
    try {
      if (hook.remove()) {
        closeNow();
      } else {
        endByShutdown();
        phase = CLOSED;
      }
    } catch (IOException e) {
      Log.warnOnce("run was not closed in order: dir=" + directory.directory(), e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void closeNow() throws IOException {
    synchronized (this) {
      if (phase == CLOSED) {
        return;
      }
      if (!isPart) {
        SharedRun.withdraw(seen);
      }
      housekeeper.stop();
      shutdownWatch.stop();
      box.life.closing(LifeCycle.End.of("CLOSED"), isBlind());
      uncaughtHandler.remove();
      box.scope.eraseStale();
      box.beat();
      phase = CLOSED;
      if (message != null) {
        message.close();
      }
      box.life.clean();
      copyNow();
      if (committer != null) {
        committer.stop(LAST_FORCE_NANOS / 1_000_000);
      }
    }
    if (copier != null) {
      copier.close();
    }
    directory.close();
  }

  private void copyNow() {
    if (copier != null) {
      try {
        copier.copy();
      } catch (IOException e) {
        box.counters.increment(CounterLayout.COPY_ERRORS);
      }
    }
  }

  /** Runs {@link #endByShutdown} when the JVM ends. */
  private static final class ShutdownHook extends Thread {
    private final OpenRun run;

    ShutdownHook(OpenRun run) {
      super(null, null, "cairn-shutdown", 0, false);
      this.run = run;
    }

    @Override
    public void run() {
      run.endByShutdown();
    }

    /** Takes the hook away; false if the JVM is shutting down. */
    boolean remove() {
      try {
        Runtime.getRuntime().removeShutdownHook(this);
        return true;
      } catch (IllegalStateException e) {
        return false;
      }
    }
  }

  /** Notes what no handler caught, then does what would have happened without it. */
  private static final class UncaughtHandler implements Thread.UncaughtExceptionHandler {
    private final OpenRun run;
    private Thread.@Nullable UncaughtExceptionHandler previous;

    UncaughtHandler(OpenRun run) {
      this.run = run;
    }

    void install() {
      previous = Thread.getDefaultUncaughtExceptionHandler();
      Thread.setDefaultUncaughtExceptionHandler(this);
    }

    @SuppressWarnings("ReferenceEquality")
    boolean isInstalled() {
      return Thread.getDefaultUncaughtExceptionHandler() == this;
    }

    /** Whether an uncaught exception still comes by: no handler but recorders' is in front. */
    @SuppressWarnings("ReferenceEquality")
    boolean sees() {
      Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
      while (handler != this && handler instanceof UncaughtHandler other) {
        handler = other.previous;
      }
      return handler == this;
    }

    /** Only if nobody has put another one in front meanwhile. */
    void remove() {
      if (isInstalled()) {
        Thread.setDefaultUncaughtExceptionHandler(previous);
      }
    }

    @Override
    public void uncaughtException(Thread thread, Throwable thrown) {
      try {
        run.uncaught(thread, thrown);
      } finally {
        if (previous != null) {
          previous.uncaughtException(thread, thrown);
        } else {
          System.err.print("Exception in thread \"" + thread.getName() + "\" ");
          thrown.printStackTrace();
        }
      }
    }
  }
}
