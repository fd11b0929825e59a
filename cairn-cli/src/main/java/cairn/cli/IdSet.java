package cairn.cli;

/**
 * A set of run ids in eight bytes each, by a hash: that any two of a million are the same has a
 * probability of one in thirty million.
 */
final class IdSet {
  /** Open addressing; 0 is free. At least a quarter is. */
  private long[] table = new long[16];

  private int size;

  /** {@return a hash of 64 bits in which every character counts; never 0} */
  static long hash(String text) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
    }
    hash = (hash ^ hash >>> 32) * 0x9E3779B97F4A7C15L;
    hash ^= hash >>> 29;
    return hash == 0 ? 1 : hash;
  }

  /** {@return whether it was not in the set} */
  boolean add(String id) {
    return add(hash(id));
  }

  private boolean add(long hash) {
    int at = place(hash);
    if (table[at] == hash) {
      return false;
    }
    table[at] = hash;
    if (++size > table.length / 4 * 3) {
      long[] before = table;
      table = new long[before.length * 2];
      for (long each : before) {
        if (each != 0) {
          table[place(each)] = each;
        }
      }
    }
    return true;
  }

  boolean contains(String id) {
    long hash = hash(id);
    return table[place(hash)] == hash;
  }

  /** {@return where the hash is, or the free place where it would be} */
  private int place(long hash) {
    int at = (int) hash & (table.length - 1);
    while (table[at] != 0 && table[at] != hash) {
      at = (at + 1) & (table.length - 1);
    }
    return at;
  }

  int size() {
    return size;
  }
}
