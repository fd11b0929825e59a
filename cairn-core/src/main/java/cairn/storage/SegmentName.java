package cairn.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The names of segments: {@code journal-000001} and so on, in the order of their numbers. */
public final class SegmentName {
  private static final String PREFIX = "journal-";
  private static final String UNFINISHED = ".new-";
  private static final int DIGITS = 6;

  /** {@return the name of the segment of that number} */
  public static String of(long number) {
    String digits = Long.toString(number);
    return PREFIX + "0".repeat(Math.max(0, DIGITS - digits.length())) + digits;
  }

  /** {@return what that file is called until it is complete} */
  public static String unfinished(String name) {
    return UNFINISHED + name;
  }

  /** {@return the number in a segment's name, or -1 if it is no such name} */
  public static long number(String name) {
    if (!name.startsWith(PREFIX)) {
      return -1;
    }
    int digits = name.length() - PREFIX.length();
    if (digits < DIGITS || digits > 18) {
      return -1;
    }
    long number = 0;
    for (int i = PREFIX.length(); i < name.length(); i++) {
      char c = name.charAt(i);
      if (c < '0' || c > '9') {
        return -1;
      }
      number = number * 10 + (c - '0');
    }
    return name.equals(of(number)) ? number : -1;
  }

  /** {@return the numbers of the segments in that directory, oldest first} */
  public static List<Long> numbers(Storage storage) throws IOException {
    List<Long> numbers = new ArrayList<>();
    for (String name : storage.list()) {
      long number = number(name);
      if (number > 0) {
        numbers.add(number);
      }
    }
    numbers.sort(null);
    return numbers;
  }

  /** Removes what was being made when its process died. The directory has no living writer. */
  public static void deleteUnfinished(Storage storage) throws IOException {
    for (String name : storage.list()) {
      if (name.startsWith(UNFINISHED)) {
        storage.delete(name);
      }
    }
  }

  private SegmentName() {}
}
