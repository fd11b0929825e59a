package cairn.format;

/**
 * How much of one value is encoded. What goes beyond is cut, visibly, and counted; a value's writer
 * bounds it as well.
 *
 * @param maxBytes of the whole encoded value
 * @param maxNodes scalars and containers of the whole value, together
 * @param maxDepth containers inside each other
 * @param maxStringBytes UTF-8 bytes of one text, bytes of one byte array or big integer
 * @param maxElements elements of one array or collection, entries of one map
 * @param maxStackFrames frames of one throwable
 */
public record EncodeLimits(
    int maxBytes,
    int maxNodes,
    int maxDepth,
    int maxStringBytes,
    int maxElements,
    int maxStackFrames) {

  /**
   * 256 KiB, 10,000 nodes, 16 levels, 8 KiB a text, 1,000 elements, 64 frames: what a person reads
   * after a death, with room; at most some milliseconds of work for the most hostile value.
   */
  public static final EncodeLimits DEFAULT =
      new EncodeLimits(256 * 1024, 10_000, 16, 8 * 1024, 1_000, 64);

  /** For a scope that has room for them: ten times as many nodes and elements. */
  public static final EncodeLimits WIDE =
      new EncodeLimits(1024 * 1024, 100_000, 16, 8 * 1024, 10_000, 64);

  /** Fails where a limit leaves no room for the mark of a cut. */
  public EncodeLimits {
    atLeast("maxBytes", maxBytes, 1);
    atLeast("maxNodes", maxNodes, 1);
    atLeast("maxDepth", maxDepth, 1);
    atLeast("maxStringBytes", maxStringBytes, 8);
    atLeast("maxElements", maxElements, 0);
    atLeast("maxStackFrames", maxStackFrames, 0);
  }

  private static void atLeast(String name, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(
          "encode limit is too small: " + name + "=" + value + ", least=" + least);
    }
  }
}
