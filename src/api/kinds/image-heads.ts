// Recognizes images by their first bytes.

/** ELF magic, then class (1: 32 bit, 2: 64 bit), data (1: little endian, 2: big endian), version. */
function elf(kind: number, data: number): Buffer {
  return Buffer.from([0x7f, 0x45, 0x4c, 0x46, kind, data, 1]);
}

const ELF = elf(0, 0).subarray(0, 4);
const LINUX_PROGRAMS = [elf(2, 1), elf(1, 1)];
const ROUTER_PROGRAM = elf(1, 2);

export const isProgram = (head: Buffer): boolean => head.subarray(0, ELF.length).equals(ELF);
/** For x86, of 32 or 64 bits. */
export const isLinuxProgram = (head: Buffer): boolean => LINUX_PROGRAMS.some((start) => head.equals(start));
/** An uncompressed or self-extracting image for the 32-bit big-endian processors of routers. */
export const isRouterProgram = (head: Buffer): boolean => head.equals(ROUTER_PROGRAM);
