// Recognizes the emulator of an image by its first bytes.

/** Bytes needed for this. */
export const HEAD_BYTES = 7;

/** `iou` for little-endian ELF programs, `dynamips` for big-endian ones, `qemu` for all else. */
export function emulatorOf(head: Uint8Array): 'qemu' | 'iou' | 'dynamips' {
  const isElf = head[0] === 0x7f && head[1] === 0x45 && head[2] === 0x4c && head[3] === 0x46;
  if (!isElf) return 'qemu';
  return head[5] === 2 ? 'dynamips' : 'iou';
}
