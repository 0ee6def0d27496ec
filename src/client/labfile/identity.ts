// Ids of objects created from a file, always the same for a lab, file and name. So an object that is created twice, by simultaneous
// commands or after an interruption, exists only once.
import { createHash } from 'node:crypto';

/** A UUID that follows from these words (version 8: of an own making). */
export function idFrom(...words: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(words)).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Such an identifier that is not taken by something else. */
export function freeId(taken: ReadonlySet<string>, ...words: readonly string[]): string {
  for (let turn = 0; ; turn++) {
    const id = idFrom(...words, ...(turn > 0 ? [String(turn)] : []));
    if (!taken.has(id)) return id;
  }
}
