/**
 * What the bytes mean: layouts, framing, checksum, CBOR and JSON. Pure: no file, no thread, no
 * clock. Not exported. {@code docs/FORMAT.md} is the specification of everything here.
 */
package cairn.format;
