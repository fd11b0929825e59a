/**
 * What Cairn costs, beside what would be used instead of it, in one run.
 *
 * <p>{@link cairn.bench.Bench} is the entry point. Every measurement proves afterwards, by reading
 * the files left behind, that what it timed was really recorded.
 */
@org.jspecify.annotations.NullMarked
package cairn.bench;
