/**
 * Harnesses that try to break the black box. Not published.
 *
 * <p>A <em>victim</em> is a child process that records. What it does is a pure function of a {@link
 * cairn.stress.Plan}, and an {@link cairn.stress.Oracle} outside its box knows how far it came; so
 * a report can be checked to the byte. Start at {@link cairn.stress.KillHarness}.
 *
 * <p>{@link cairn.stress.DeathHarness} asks another question: not what survives, but whether the
 * verdict is true.
 */
package cairn.stress;
