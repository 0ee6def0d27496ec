// Lets two files share blocks of their file system until one side is written (ioctl_ficlonerange(2)). Node can do this with whole
// files only.
import { loadKoffi } from '../system-calls/koffi.ts';

/** <linux/fs.h>: _IOW(0x94, 13, struct file_clone_range); the same on x64 and arm64. */
const FICLONERANGE = 0x4020940d;

/** Bytes. Offsets and lengths must be multiples of the file system's block size, which is this on nearly all. */
export const BLOCK_BYTES = 4096;

/** Smallest length (bytes) that is worth the call. */
export const WORTH_SHARING_BYTES = 16 * BLOCK_BYTES;

/** A range of a file and its offset in the other file; all values are multiples of `BLOCK_BYTES`. */
export interface SharedRange {
  from: number;
  to: number;
  length: number;
}

type Ioctl = (
  descriptor: number,
  request: number,
  range: object,
  done: (error: unknown, result: number) => void,
) => void;

let ioctl: Ioctl | undefined;

function declare(): Ioctl {
  const koffi = loadKoffi();
  koffi.struct('FileCloneRange', {
    src_fd: 'int64',
    src_offset: 'uint64',
    src_length: 'uint64',
    dest_offset: 'uint64',
  });
  const declared = koffi.load('libc.so.6').func('int ioctl(int, unsigned long, const FileCloneRange *)');
  return declared.async as Ioctl;
}

/**
 * Shares a range of one open file with another one. False, without any change, if the file system does not support it.
 */
export function shareBlocks(source: number, destination: number, { from, to, length }: SharedRange): Promise<boolean> {
  ioctl ??= declare();
  const range = { src_fd: source, src_offset: from, src_length: length, dest_offset: to };
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  ioctl(destination, FICLONERANGE, range, (error, result) => (error ? reject(error) : resolve(result === 0)));
  return promise;
}
