package cairn.report;

import java.io.InputStream;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What an hs_err file says, the report that a HotSpot JVM writes when it crashes. Not changed once
 * read.
 *
 * <p>Never throws, whatever is in the file. Takes time linear in its size and the memory of one
 * line; reads at most {@value #MAX_BYTES} bytes. What the file doesn't say is null or empty.
 */
final class CrashFile {
  /*
   * One pass over the lines, and a part of the file for each, since what a line means depends on
   * where it is:
   *
   *   BEFORE    anything; ends at one of the two headings, a line that begins with '#'
   *   HEADING   lines with '#': what happened, pid, tid, pc, frame, versions
   *   SUMMARY   time and elapsed time, behind the command line
   *   THREAD    the thread that crashed, its frames, siginfo, registers
   *   REST      everything else, down to "END."
   *
   * Texts that the application chooses come in the middle of it, line breaks included: its command
   * line in SUMMARY, the name of a thread at the beginning of THREAD and wherever threads are
   * listed. So pid and signal are taken from HEADING alone, which holds none of them; the last time
   * of SUMMARY and the last siginfo before the registers count, which come behind the texts; and
   * "END." counts only behind "vm_info:", which comes behind all of them.
   *
   * A line whose end is missing says nothing: a number cut in two is another number. A second
   * heading ends the file: another JVM's was appended.
   */

  /** Much more than a JVM with ten thousand threads writes. */
  static final int MAX_BYTES = 16 * 1024 * 1024;

  private static final int MAX_FRAMES = 6;
  private static final int MAX_FIELD = 300;
  private static final String ERROR = "A fatal error has been detected by the Java Runtime";
  private static final String MEMORY = "There is insufficient memory for the Java Runtime";
  private static final String LAMBDA = "$$Lambda";
  private static final String END = "END.";
  private static final String SEPARATOR = "---------------  ";
  private static final String[] MONTHS = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
  };

  /** What made the JVM write the file. */
  enum Kind {
    /** The file ends before it says. */
    UNKNOWN,
    /** A signal, or an exception on Windows. */
    SIGNAL,
    /** The JVM found itself broken. */
    INTERNAL_ERROR,
    /** The operating system gave it no memory. */
    NATIVE_MEMORY,
    /** The Java heap or another of its own spaces was full, with CrashOnOutOfMemoryError. */
    JAVA_MEMORY
  }

  /**
   * A file that is where an hs_err file may be.
   *
   * @param modified when it was last written
   * @param file what it says; null if it is none
   */
  record Dated(Instant modified, @Nullable CrashFile file) {}

  private enum Part {
    HEADING,
    SUMMARY,
    THREAD,
    REST
  }

  /** What made the JVM write the file. */
  Kind kind = Kind.UNKNOWN;

  /** As the heading says it: {@code SIGSEGV (0xb) at pc=..., pid=..., tid=...} */
  @Nullable String error;

  /** {@code SIGSEGV}. */
  @Nullable String signal;

  /** What is said beneath {@link #error}, such as the message of a failed assertion. */
  @Nullable String detail;

  OptionalLong pid = OptionalLong.empty();
  OptionalLong tid = OptionalLong.empty();
  @Nullable String pc;

  /** The problematic frame, as it is written. */
  @Nullable String frame;

  @Nullable String jre;
  @Nullable String vm;

  /** {@code SEGV_MAPERR}. */
  @Nullable String signalCode;

  /** The address that was accessed. */
  @Nullable String address;

  /** Who sent the signal, if it was sent. */
  OptionalLong senderPid = OptionalLong.empty();

  OptionalLong senderUid = OptionalLong.empty();

  /** {@code JavaThread}, {@code VMThread}, ... */
  @Nullable String threadKind;

  @Nullable String threadName;

  /** {@code _thread_in_native}. */
  @Nullable String threadState;

  /** The methods that the thread was in, innermost first. */
  final List<String> javaFrames = new ArrayList<>();

  /** The innermost method that is not the JDK's, however deep. */
  @Nullable String ownMethod;

  @Nullable String compileTask;

  /** From the start of the JVM to the crash. */
  @Nullable Duration elapsed;

  /** When it crashed, on the clock and in the zone of the JVM. */
  @Nullable LocalDateTime time;

  private boolean isUtc;
  OptionalLong maxHeapBytes = OptionalLong.empty();
  OptionalLong residentBytes = OptionalLong.empty();

  /** Bytes that the operating system refused. */
  OptionalLong refusedBytes = OptionalLong.empty();

  /** What for. */
  @Nullable String refusedFor;

  /** Whether the JVM wrote the file to its end. */
  boolean isComplete;

  private Part part = Part.HEADING;
  private boolean frameIsNext;
  private boolean taskIsNext;
  private boolean inJavaFrames;
  private boolean inNativeFrames;
  private boolean hasJavaFrames;
  private boolean inRegisters;
  private boolean isPastVersion;

  private CrashFile() {}

  /** {@return what the file says; null if it is none} The stream is not closed. */
  static @Nullable CrashFile read(InputStream in) {
    TextLines lines = new TextLines(in, MAX_BYTES);
    CrashFile file = null;
    for (String line = lines.next(); line != null; line = lines.next()) {
      if (isHeading(line)) {
        if (file != null && file.error != null) {
          return file;
        }
        file = new CrashFile();
        if (line.contains(MEMORY)) {
          file.kind = Kind.NATIVE_MEMORY;
        }
      } else if (file != null && (lines.isWhole() || line.equals(END)) && file.isLast(line)) {
        return file;
      }
    }
    return file;
  }

  static boolean isHeading(String line) {
    return line.startsWith("#") && (line.contains(ERROR) || line.contains(MEMORY));
  }

  /** {@return whether nothing that follows counts} */
  private boolean isLast(String line) {
    if (line.startsWith(SEPARATOR)) {
      separator(line);
      return false;
    }
    switch (part) {
      case HEADING -> heading(line);
      case SUMMARY -> summary(line);
      case THREAD -> thread(line);
      case REST -> {
        return rest(line);
      }
    }
    return false;
  }

  private void separator(String line) {
    inJavaFrames = false;
    inNativeFrames = false;
    if (line.contains("S U M M A R Y") && part == Part.HEADING) {
      part = Part.SUMMARY;
    } else if (line.contains("T H R E A D") && part.compareTo(Part.THREAD) < 0) {
      part = Part.THREAD;
    } else if (line.contains("P R O C E S S") || line.contains("S Y S T E M")) {
      part = Part.REST;
    }
  }

  // The heading

  private void heading(String line) {
    if (!line.startsWith("#")) {
      // A line that was cut, or not of the file. An empty one ends the heading.
      part = line.isBlank() && error != null ? Part.SUMMARY : part;
      return;
    }
    String text = line.substring(1).strip();
    if (frameIsNext) {
      frameIsNext = false;
      frame = text.isEmpty() ? null : cut(text);
    } else if (text.startsWith("JRE version:")) {
      jre = after(text, "JRE version:");
    } else if (text.startsWith("Java VM:")) {
      vm = after(text, "Java VM:");
    } else if (text.startsWith("Problematic frame:")) {
      frameIsNext = true;
    } else if (text.startsWith("Native memory allocation")) {
      refused(text);
    } else if (error == null && text.contains(" pid=")) {
      error(text);
    } else if (error != null && detail == null && jre == null && !text.isEmpty()) {
      detail = cut(text);
      if (kind == Kind.INTERNAL_ERROR && text.contains("OutOfMemory encountered: ")) {
        kind = Kind.JAVA_MEMORY;
      }
    }
  }

  private void error(String text) {
    pid = number(text, text.lastIndexOf(" pid=") + 5);
    tid = text.contains("tid=") ? number(text, text.lastIndexOf("tid=") + 4) : tid;
    error = cut(text);
    if (text.startsWith("SIG") || text.startsWith("EXCEPTION_")) {
      kind = Kind.SIGNAL;
      signal = text.substring(0, end(text, 0));
      int where = text.indexOf(" at pc=");
      pc = where < 0 ? null : text.substring(where + 7, end(text, where + 7));
    } else if (text.startsWith("Internal Error")) {
      kind = Kind.INTERNAL_ERROR;
    }
  }

  /** {@code Native memory allocation (mmap) failed to map 4096 bytes. Error detail: ...} */
  private void refused(String text) {
    kind = Kind.NATIVE_MEMORY;
    int bytes = text.indexOf(" bytes");
    if (bytes < 0) {
      return;
    }
    int begin = text.lastIndexOf(' ', bytes - 1) + 1;
    refusedBytes = number(text, begin);
    String what = text.substring(bytes + " bytes".length());
    for (String before : List.of(" for ", ". Error detail: ")) {
      if (what.startsWith(before)) {
        String reason = what.substring(before.length()).strip();
        refusedFor = cut(reason.endsWith(".") ? reason.substring(0, reason.length() - 1) : reason);
      }
    }
  }

  // The summary

  private void summary(String line) {
    if (!line.startsWith("Time:")) {
      return;
    }
    int at = line.indexOf(" elapsed time: ");
    String when = line.substring("Time:".length(), at < 0 ? line.length() : at).strip();
    if (at >= 0) {
      time(when);
      int from = at + " elapsed time: ".length();
      int to = line.indexOf(" seconds", from);
      elapsed = to < 0 ? null : seconds(line.substring(from, to));
    }
  }

  /** {@code Mon Nov 30 20:44:12 2026 UTC} */
  private void time(String text) {
    time = null;
    String[] words = text.split(" +", -1);
    if (words.length < 5 || words[3].length() != 8) {
      return;
    }
    try {
      int month = List.of(MONTHS).indexOf(words[1]) + 1;
      int year = Integer.parseInt(words[4]);
      if (year < 1970 || year > 9999) {
        return;
      }
      time =
          LocalDateTime.of(
              year,
              month,
              Integer.parseInt(words[2]),
              Integer.parseInt(words[3].substring(0, 2)),
              Integer.parseInt(words[3].substring(3, 5)),
              Integer.parseInt(words[3].substring(6, 8)));
      isUtc = words.length == 6 && (words[5].equals("UTC") || words[5].equals("GMT"));
    } catch (DateTimeException | NumberFormatException e) {
      // Another format, or nonsense: unknown.
    }
  }

  private static @Nullable Duration seconds(String text) {
    int point = text.indexOf('.');
    OptionalLong whole = number(text, 0);
    if (whole.isEmpty() || whole.getAsLong() > Integer.MAX_VALUE) {
      return null;
    }
    long millis = 0;
    if (point >= 0) {
      String digits = (text.substring(point + 1) + "000").substring(0, 3);
      millis = number(digits, 0).orElse(0);
    }
    return Duration.ofMillis(whole.getAsLong() * 1000 + millis);
  }

  // The thread

  private void thread(String line) {
    if (line.startsWith("Current thread")) {
      if (threadKind == null) {
        currentThread(line.substring("Current thread".length()));
      }
    } else if (line.startsWith("siginfo:") && !inRegisters) {
      siginfo(line);
    } else if (line.startsWith("Registers:")) {
      inRegisters = true;
    } else if (line.startsWith("Current CompileTask:")) {
      taskIsNext = true;
    } else if (taskIsNext) {
      taskIsNext = false;
      compileTask = line.isBlank() ? null : cut(line.strip().replaceAll(" +", " "));
    } else if (line.startsWith("Java frames:")) {
      inJavaFrames = true;
      inNativeFrames = false;
      hasJavaFrames = true;
      javaFrames.clear();
      ownMethod = null;
    } else if (line.startsWith("Native frames:")) {
      inNativeFrames = true;
    } else if (line.isBlank()) {
      inJavaFrames = false;
      inNativeFrames = false;
    } else if (inJavaFrames || (inNativeFrames && !hasJavaFrames)) {
      String method = method(line);
      if (method != null && javaFrames.size() < MAX_FRAMES) {
        javaFrames.add(cut(method));
      }
      if (method != null && ownMethod == null && !isOfTheJdk(method)) {
        ownMethod = cut(method);
      }
    }
  }

  /** {@code (0x7f...): JavaThread "main" daemon [_thread_in_vm, id=1, stack(0x...)]} */
  private void currentThread(String text) {
    if (text.contains(" is native thread")) {
      threadKind = "native thread";
      return;
    }
    int begin = text.indexOf("):");
    String rest = begin < 0 ? "" : text.substring(begin + 2).strip();
    if (rest.isEmpty()) {
      return;
    }
    threadKind = cut(rest.substring(0, end(rest, 0)));
    int open = rest.indexOf('"');
    int close = rest.lastIndexOf('"');
    // The name may hold quotes and brackets; nothing behind it does. A name that goes on in the
    // next line has no end here.
    if (open >= 0) {
      threadName = cut(rest.substring(open + 1, close > open ? close : rest.length()));
    }
    int state = close > open ? rest.indexOf("[_thread_", close) : -1;
    if (state >= 0) {
      threadState = cut(rest.substring(state + 1, end(rest, state + 1)));
    }
  }

  /** {@code siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x0} */
  private void siginfo(String line) {
    if (signal == null || !line.contains("(" + signal + ")")) {
      return;
    }
    signalCode = null;
    int code = line.indexOf("si_code: ");
    int open = code < 0 ? -1 : line.indexOf('(', code);
    int close = open < 0 ? -1 : line.indexOf(')', open);
    if (close > 0) {
      signalCode = cut(line.substring(open + 1, close));
    }
    int at = line.indexOf("si_addr: ");
    address = at < 0 ? null : cut(line.substring(at + 9, end(line, at + 9)));
    int sender = line.indexOf("si_pid: ");
    int user = line.indexOf("si_uid: ");
    boolean isWhole = sender >= 0 && user > sender;
    senderPid = isWhole ? number(line, sender + 8) : OptionalLong.empty();
    senderUid = isWhole ? number(line, user + 8) : OptionalLong.empty();
  }

  private static boolean isOfTheJdk(String method) {
    return method.startsWith("java.") || method.startsWith("jdk.") || method.startsWith("sun.");
  }

  /**
   * Reads a Java frame: {@code j Crash.put(J)V+6} or {@code J 13 c1 Crash.hot(JJI)I (44 bytes)}.
   */
  private static @Nullable String method(String line) {
    if (!line.startsWith("j ") && !line.startsWith("J ")) {
      return null;
    }
    for (String word : line.split(" +", -1)) {
      int open = word.indexOf('(');
      if (open > 0) {
        return withoutAddress(word.substring(0, open));
      }
    }
    return null;
  }

  /** {@return {@code A$$Lambda.run} of {@code A$$Lambda$1+0x00007f3d80000a08.run}} */
  private static String withoutAddress(String method) {
    int lambda = method.indexOf(LAMBDA);
    int dot = lambda < 0 ? -1 : method.indexOf('.', lambda);
    return dot < 0 ? method : method.substring(0, lambda + LAMBDA.length()) + method.substring(dot);
  }

  // The rest

  private boolean rest(String line) {
    if (line.startsWith("Resident Set Size: ")) {
      residentBytes = kilobytes(line);
    } else if (line.startsWith("vm_info:")) {
      isPastVersion = true;
    } else if (line.contains(" MaxHeapSize ")) {
      int equals = line.indexOf("= ");
      maxHeapBytes = equals < 0 ? maxHeapBytes : number(line, equals + 2);
    } else if (isPastVersion && line.equals(END)) {
      isComplete = true;
      return true;
    }
    return false;
  }

  private static OptionalLong kilobytes(String line) {
    int end = line.indexOf('K');
    OptionalLong number = number(line, "Resident Set Size: ".length());
    return end < 0 || number.isEmpty() || number.getAsLong() > Long.MAX_VALUE / 1024
        ? OptionalLong.empty()
        : OptionalLong.of(number.getAsLong() * 1024);
  }

  // Words

  /** {@return the number that begins at {@code from}} */
  private static OptionalLong number(String text, int from) {
    int to = from;
    while (to < text.length() && text.charAt(to) >= '0' && text.charAt(to) <= '9') {
      to++;
    }
    if (to == from || to - from > 18) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(Long.parseLong(text.substring(from, to)));
  }

  /** {@return where the word ends that begins at {@code from}} */
  private static int end(String text, int from) {
    int to = from;
    while (to < text.length() && " ,]\"\t".indexOf(text.charAt(to)) < 0) {
      to++;
    }
    return to;
  }

  private static String after(String text, String name) {
    return cut(text.substring(name.length()).strip());
  }

  private static String cut(String text) {
    return text.length() <= MAX_FIELD ? text : text.substring(0, MAX_FIELD);
  }

  // What follows from it

  /**
   * {@return when it crashed, to the second} The zone is written as a name, which says little; so
   * an offset counts if it is a multiple of 15 min and explains the difference to {@code modified}.
   *
   * @param modified when the file was last written, which a copy may not have kept
   */
  Instant crashedAt(Instant modified) {
    if (time == null) {
      return modified;
    }
    Instant local = time.toInstant(ZoneOffset.UTC);
    if (isUtc) {
      return local;
    }
    long quarter = Duration.ofMinutes(15).toMillis();
    long difference = local.toEpochMilli() - modified.toEpochMilli();
    long offset = Math.round((double) difference / quarter) * quarter;
    long off = Math.abs(difference - offset);
    boolean isPlausible =
        Math.abs(offset) <= Duration.ofHours(14).toMillis()
            && off <= CrashEvidence.WRITTEN_WITHIN.toMillis();
    return isPlausible ? local.minusMillis(offset) : modified;
  }

  /** {@return when its JVM started, to the second} */
  @Nullable Instant startedAt(Instant modified) {
    return elapsed == null || time == null ? null : crashedAt(modified).minus(elapsed);
  }

  /** {@return whether the signal came from a process, and not from what the thread did} */
  boolean isSent() {
    return senderPid.isPresent()
        && (signalCode == null
            || signalCode.equals("SI_USER")
            || signalCode.equals("SI_TKILL")
            || signalCode.equals("SI_QUEUE"));
  }

  /** {@return the innermost method that is not the JDK's, if the crash was below Java code} */
  @Nullable String caller() {
    return frame != null && (frame.startsWith("C ") || frame.startsWith("V ")) ? ownMethod : null;
  }

  /** {@return the place of the problematic frame, such as {@code libfoo.so+0x1234}} */
  @Nullable String place() {
    if (frame == null) {
      return null;
    }
    int open = frame.indexOf('[');
    int close = frame.indexOf(']');
    if ((frame.startsWith("C ") || frame.startsWith("V ")) && open >= 0 && close > open) {
      String symbol = frame.substring(close + 1).strip();
      String place = frame.substring(open + 1, close);
      return symbol.isEmpty() ? place : place + " " + symbol;
    }
    String method = method(frame);
    if (method != null) {
      return method;
    }
    // A stub of the JVM: "v  ~StubRoutines::jlong_arraycopy 0x00007fc2c39718b8"
    String stub = frame.substring(frame.indexOf(' ') + 1).strip();
    return stub.substring(0, end(stub, 0));
  }
}
