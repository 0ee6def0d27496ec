// Identifies a file beyond name and size without reading all of it. Over plain HTTP browsers offer no checksums.

/** Size of a sampled block. */
const BLOCK_BYTES = 4096;
/** Number of blocks, spread evenly over the file; the last one ends with it. */
const BLOCKS = 256;
/** Start values of 32-bit FNV-1a: the standard one and a second one. */
const BEGINNINGS = [0x811c9dc5, 0x9dc5811c] as const;
const PRIME = 0x01000193;

/** Checksum of sampled blocks, in hexadecimal. @throws DOMException when the file can no longer be read */
export async function sampleOf(file: Blob): Promise<string> {
  const step = Math.max(BLOCK_BYTES, Math.floor((file.size - BLOCK_BYTES) / (BLOCKS - 1)));
  const blocks: Blob[] = [];
  for (let at = 0; at < file.size && blocks.length < BLOCKS; at += step) blocks.push(file.slice(at, at + BLOCK_BYTES));
  blocks.push(file.slice(Math.max(0, file.size - BLOCK_BYTES)));
  const bytes = new Uint8Array(await new Blob(blocks).arrayBuffer());
  return BEGINNINGS.map((beginning) => {
    let hash: number = beginning;
    for (const byte of bytes) hash = Math.imul(hash ^ byte, PRIME);
    return (hash >>> 0).toString(16).padStart(8, '0');
  }).join('');
}
