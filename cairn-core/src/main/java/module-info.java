/**
 * The black box of JVM applications: the recorder ({@link cairn}), the report ({@link
 * cairn.report}) and an append-only journal ({@link cairn.journal}). No dependency beyond the JDK.
 */
@org.jspecify.annotations.NullMarked
module cairn {
  requires static org.jspecify;
  requires java.management;
  requires static java.logging;
  requires static jdk.management;

  exports cairn;
  exports cairn.journal;
  exports cairn.report;
}
