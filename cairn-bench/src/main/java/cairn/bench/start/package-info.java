/**
 * The processes whose start is measured: each does one thing and refers to nothing else here, so
 * that no other class is loaded.
 */
@org.jspecify.annotations.NullMarked
package cairn.bench.start;
