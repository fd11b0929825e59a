package cairn.format;

/**
 * A record of the trail or the scope that proved itself.
 *
 * @param position its place in the stream
 * @param wallMillis when it was recorded
 * @param type one of {@link RecordLayout}'s types, or one that this version doesn't know
 * @param level as in {@link RecordLayout}
 * @param payload what it holds
 */
public record BoxRecord(long position, long wallMillis, int type, int level, CborSlice payload) {}
