/**
 * The {@code cairn} command. {@link cairn.cli.Main} parses, one class per command does the work,
 * and only the public {@link cairn.report} API reads the evidence.
 */
@NullMarked
package cairn.cli;

import org.jspecify.annotations.NullMarked;
