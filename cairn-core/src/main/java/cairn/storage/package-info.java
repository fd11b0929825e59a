/**
 * Bytes that survive: mapped regions, segments that are written and forced, directories that one
 * process owns. Knows nothing of what the bytes mean to the recorder or the journal. Not exported.
 */
package cairn.storage;
