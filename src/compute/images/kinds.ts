// The kinds of image: whose they are, where they lie, and how they are told from other files by how they begin.
// Facts of release 2.2.57.

/** Emulators that have images, as routes spell them, and the folders below the images path that these are in. */
export const FOLDERS = { dynamips: 'IOS', iou: 'IOU', qemu: 'QEMU' } as const;

export interface ImageKind {
  readonly emulator: keyof typeof FOLDERS;
  /** Whether a file that begins like this is an image. `head` has `HEAD_BYTES` bytes. */
  accepts(head: Buffer): boolean;
}

/** How much of a file is looked at; a shorter one is no image. */
export const HEAD_BYTES = 7;

/** ELF magic, then class (1: 32 bit, 2: 64 bit), data (1: little endian, 2: big endian), version. */
function elf(kind: number, data: number): Buffer {
  return Buffer.from([0x7f, 0x45, 0x4c, 0x46, kind, data, 1]);
}

const ELF = elf(0, 0).subarray(0, 4);
const IOU = [elf(2, 1), elf(1, 1)];
const IOS = elf(1, 2);

export const IMAGE_KINDS: readonly ImageKind[] = [
  { emulator: 'dynamips', accepts: (head) => head.equals(IOS) },
  { emulator: 'iou', accepts: (head) => IOU.some((start) => head.equals(start)) },
  { emulator: 'qemu', accepts: (head) => !head.subarray(0, ELF.length).equals(ELF) },
];
