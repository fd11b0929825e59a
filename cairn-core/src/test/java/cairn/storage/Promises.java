package cairn.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a writer of numbered records has promised so far, and whether what was found after a death
 * keeps it.
 */
public final class Promises {
  /** A record as a reader shows it. */
  public record Found(long sequence, byte[] bytes) {}

  private final TreeMap<Long, List<byte[]>> attempted = new TreeMap<>();
  private long returned;
  private long durable;
  private long removed;
  private long floor;

  public Promises() {}

  /** As it is now; what either promises later is its own. */
  public Promises(Promises other) {
    other.attempted.forEach((sequence, all) -> attempted.put(sequence, new ArrayList<>(all)));
    returned = other.returned;
    durable = other.durable;
    removed = other.removed;
    floor = other.floor;
  }

  /** Bytes of that length that no other number has, as far as there is room for a difference. */
  public static byte[] payload(long sequence, int length) {
    byte[] bytes = new byte[length];
    new Random(sequence * 1_000_003 + length).nextBytes(bytes);
    return bytes;
  }

  /** A record is on its way under that number; it may be there, and need not. */
  public void attempt(long sequence, byte[] bytes) {
    attempted.computeIfAbsent(sequence, s -> new ArrayList<>()).add(bytes.clone());
  }

  /** The call returned: process death alone takes nothing up to that number. */
  public void returned(long sequence) {
    returned = Math.max(returned, sequence);
    floor = Math.max(floor, sequence);
  }

  /** Power loss takes nothing up to that number. */
  public void durable(long sequence) {
    durable = Math.max(durable, sequence);
    floor = Math.max(floor, sequence);
  }

  /** Everything up to that number may be gone on purpose. */
  public void removed(long sequence) {
    removed = Math.max(removed, sequence);
  }

  /** {@return the highest number below that one under which anything was attempted; 0 if none} */
  public long lastBelow(long sequence) {
    Long last = attempted.lowerKey(sequence);
    return last == null ? 0 : last;
  }

  public long durable() {
    return durable;
  }

  public long returned() {
    return returned;
  }

  public long removed() {
    return removed;
  }

  /** {@return the number that the next record must exceed after process death} */
  public long floor() {
    return floor;
  }

  /**
   * After a power loss: what was not durable may be gone, and its numbers may be given again,
   * unless it was found.
   *
   * @param found all that is there now
   */
  public void afterPowerLoss(List<Found> found) {
    long last = found.isEmpty() ? 0 : found.get(found.size() - 1).sequence();
    long known = Math.max(durable, last);
    Set<Long> there = found.stream().map(Found::sequence).collect(Collectors.toSet());
    attempted.keySet().retainAll(there);
    returned = known;
    floor = known;
  }

  /** Throws if a process death breaks a promise. */
  public void checkAfterProcessDeath(List<Found> found) {
    check(found, Math.max(returned, durable));
  }

  /** Throws if a power loss breaks a promise. */
  public void checkAfterPowerLoss(List<Found> found) {
    check(found, durable);
  }

  private void check(List<Found> found, long mustHaveUpTo) {
    long previous = 0;
    TreeMap<Long, byte[]> present = new TreeMap<>();
    for (Found record : found) {
      if (record.sequence() <= previous) {
        throw new AssertionError(
            "order or duplicate: sequence=" + record.sequence() + ", previous=" + previous);
      }
      previous = record.sequence();
      List<byte[]> candidates = attempted.get(record.sequence());
      if (candidates == null) {
        throw new AssertionError("never appended: sequence=" + record.sequence());
      }
      if (candidates.stream().noneMatch(bytes -> Arrays.equals(bytes, record.bytes()))) {
        throw new AssertionError("other bytes than appended: sequence=" + record.sequence());
      }
      present.put(record.sequence(), record.bytes());
    }
    for (Map.Entry<Long, List<byte[]>> one :
        attempted.subMap(removed, false, Math.max(removed, mustHaveUpTo), true).entrySet()) {
      if (!present.containsKey(one.getKey())) {
        throw new AssertionError(
            "promised and missing: sequence="
                + one.getKey()
                + ", promisedUpTo="
                + mustHaveUpTo
                + ", found="
                + present.keySet());
      }
    }
  }

  @Override
  public String toString() {
    return "returned=" + returned + ", durable=" + durable + ", removed=" + removed;
  }
}
