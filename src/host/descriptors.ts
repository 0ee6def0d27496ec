// Flags of file descriptors that Node gives no access to.

import { loadKoffi } from './koffi.ts';
import { SystemError } from './system-calls.ts';

// Values of <fcntl.h>.
const F_SETFD = 2;
const FD_CLOEXEC = 1;

let setFlags: ((descriptor: number) => number) | undefined;
let errno: () => number;

/** Declares fcntl(2), so that the call itself cannot fail for want of it. */
export function prepareCloseOnExec(): void {
  if (setFlags) return;
  const koffi = loadKoffi();
  const fcntl = koffi.load('libc.so.6').func('int fcntl(int, int, ...)');
  errno = () => koffi.errno();
  setFlags = (descriptor) => fcntl(descriptor, F_SETFD, 'int', FD_CLOEXEC);
}

/**
 * Keeps a descriptor out of the programs that are started from now on.
 * @throws SystemError `EBADF` when the descriptor is not open
 */
export function closeOnExec(descriptor: number): void {
  prepareCloseOnExec();
  if (setFlags!(descriptor) < 0) throw new SystemError('fcntl', errno());
}
