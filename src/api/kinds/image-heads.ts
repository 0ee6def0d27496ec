// Recognizes images by their first bytes.

/** Bytes read to recognize an image; a shorter file is no image. */
export const HEAD_BYTES = 7;

const ELF = [0x7f, 0x45, 0x4c, 0x46];

const begins = (head: Uint8Array, ...start: readonly number[]): boolean => start.every((byte, at) => head[at] === byte);
/** Class (1: 32 bit, 2: 64 bit), data (1: little endian, 2: big endian), version. */
const isElf = (head: Uint8Array, kind: number, data: number): boolean => begins(head, ...ELF, kind, data, 1);

export const isProgram = (head: Uint8Array): boolean => begins(head, ...ELF);
/** For x86, of 32 or 64 bits. */
export const isLinuxProgram = (head: Uint8Array): boolean => isElf(head, 2, 1) || isElf(head, 1, 1);
/** An uncompressed or self-extracting image for the 32-bit big-endian processors of routers. */
export const isRouterProgram = (head: Uint8Array): boolean => isElf(head, 1, 2);
