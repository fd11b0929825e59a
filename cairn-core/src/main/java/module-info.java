/**
 * The black box of JVM applications: the recorder ({@link cairn}) and the report ({@link
 * cairn.report}). No dependency beyond the JDK.
 */
@org.jspecify.annotations.NullMarked
module cairn {
  requires static org.jspecify;
  requires java.management;
  requires static jdk.management;

  exports cairn;
  exports cairn.report;
}
