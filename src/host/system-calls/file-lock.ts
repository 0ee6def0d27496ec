// Locks: of whole files for writing (fcntl(2)), which belong to the process, and of directories (flock(2)), which
// belong to the descriptor. Both end with the process.

import { constants } from 'node:os';
import { check, libc, resultOrErrno, Slab } from './libc.ts';

const F_GETLK = 5;
const F_SETLK = 6;
const F_WRLCK = 1;
const F_UNLCK = 2;
/** struct flock of 64-bit Linux. All zeros except the type means the whole file. */
const FLOCK_BYTES = 32;
const FLOCK_PID = 24;

let slab: Slab | undefined;

function wanted(): Slab {
  slab ??= new Slab(FLOCK_BYTES);
  slab.bytes.fill(0);
  slab.bytes.writeInt16LE(F_WRLCK, 0);
  return slab;
}

/** Locks an open file; false if another process has locked it. Closing any descriptor of the file ends the lock. */
export function lockFile(descriptor: number): boolean {
  const { address } = wanted();
  const result = resultOrErrno(libc().fcntlAt(descriptor, F_SETLK, address));
  if (result === -constants.errno.EAGAIN || result === -constants.errno.EACCES) return false;
  check('fcntl', result);
  return true;
}

/** The other process that has locked an open file, if any. @throws SystemError */
export function lockHolder(descriptor: number): number | undefined {
  const { address, bytes } = wanted();
  check('fcntl', libc().fcntlAt(descriptor, F_GETLK, address));
  return bytes.readInt16LE(0) === F_UNLCK ? undefined : bytes.readInt32LE(FLOCK_PID);
}

const LOCK_EX = 2;
const LOCK_NB = 4;

/**
 * Locks an open directory until its descriptor is closed; false if another descriptor has locked it. @throws
 * SystemError
 */
export function lockDirectory(descriptor: number): boolean {
  const result = resultOrErrno(libc().flock(descriptor, LOCK_EX | LOCK_NB));
  if (result === -constants.errno.EWOULDBLOCK) return false;
  check('flock', result);
  return true;
}
