/**
 * Finds runs, salvages what their boxes hold, judges how each ended and renders it. Start at {@link
 * cairn.report.Runs}. Damage is a {@link cairn.report.Finding}, never a throw; only {@link
 * cairn.report.Run#scrub} writes to a box. {@link cairn.report.Run#witness} and {@link
 * cairn.report.Run#deliver} write beside it.
 */
package cairn.report;
