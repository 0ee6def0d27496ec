// Which emulator an image is for, by how it begins.

/** Bytes that tell it. */
export const HEAD_BYTES = 7;

/** `iou` for programs of this machine's kind, `dynamips` for those of large-endian processors, `qemu` for all else. */
export function emulatorOf(head: Uint8Array): 'qemu' | 'iou' | 'dynamips' {
  const isElf = head[0] === 0x7f && head[1] === 0x45 && head[2] === 0x4c && head[3] === 0x46;
  if (!isElf) return 'qemu';
  return head[5] === 2 ? 'dynamips' : 'iou';
}
