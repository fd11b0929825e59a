/**
 * The recorder: open a run, then record scope, trail and open spans into a box that survives any
 * process death. Start at {@link cairn.Recorder}.
 *
 * <p>Priorities, in this order: never harm the application; never lose a returned record; never
 * report what was not recorded; cost the caller as little as possible.
 */
package cairn;
