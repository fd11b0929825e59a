package cairn.report;

/**
 * What scrubbing did to the box of a run.
 *
 * @param changed whether the box is another one now
 * @param valuesRedacted values, and keys, that the report showed and that are redacted now
 * @param bytesErased bytes other than zero that no report showed and that are gone
 */
public record Scrubbed(boolean changed, long valuesRedacted, long bytesErased) {}
