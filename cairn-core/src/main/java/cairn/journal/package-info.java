/**
 * An append-only journal whose durability is an argument: what a returned {@link
 * cairn.journal.Journal#append} survives is named by {@link cairn.Durability}, and costs what that
 * takes. One process writes a directory; any number read it, follow it and acknowledge.
 */
package cairn.journal;
