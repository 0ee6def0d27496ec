// Network namespaces (network_namespaces(7)), new ones and those of other processes, entered for one call: the namespace
// belongs to the thread.

import { readlinkSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { CLOEXEC, check, libc, Slab, SOCK_DGRAM, SOL_SOCKET, SystemError } from './libc.ts';
import { AF_INET } from './socket-address.ts';

const CLONE_NEWNET = 0x40000000;
const OWN = '/proc/thread-self/ns/net';
/** Of <asm-generic/socket.h>, since Linux 5.14. */
const SO_NETNS_COOKIE = 71;
const COOKIE_BYTES = 8;

let answer: Slab | undefined;

/**
 * Runs `task`, which must be synchronous, in the network namespace of another process.
 * @throws SystemError by `call`: `namespace` (`ENOENT` when the process is gone, `EACCES` without CAP_SYS_PTRACE,
 * `EEXIST` when it is in the namespace of this process), `setns` (`EPERM` without CAP_SYS_ADMIN)
 */
export function inNetworkOf<T>(process: number, task: () => T): T {
  const { open, setns, close } = libc();
  return elsewhere(() => {
    const other = check('namespace', open(`/proc/${process}/ns/net`, CLOEXEC));
    try {
      // The pid of an ended process may be reused. Nothing meant for another network may happen in ours.
      if (readlinkSync(`/proc/self/fd/${other}`) === readlinkSync(OWN))
        throw new SystemError('namespace', constants.errno.EEXIST);
      check('setns', setns(other, CLONE_NEWNET));
    } finally {
      close(other);
    }
  }, task);
}

/**
 * Runs `task`, which must be synchronous, in a new network namespace, which lasts as long as a process in it.
 * @throws SystemError `unshare` (`EPERM` without CAP_SYS_ADMIN)
 */
export function inNewNetwork<T>(task: () => T): T {
  return elsewhere(() => check('unshare', libc().unshare(CLONE_NEWNET)), task);
}

/** Runs a task in the network namespace that `enter` enters. */
function elsewhere<T>(enter: () => void, task: () => T): T {
  const { open, setns, close } = libc();
  const own = check('namespace', open(OWN, CLOEXEC));
  try {
    enter();
    try {
      return task();
    } finally {
      check('setns', setns(own, CLONE_NEWNET));
    }
  } finally {
    close(own);
  }
}

/**
 * Identifies this thread's network namespace. The kernel never uses the number again; before Linux 5.14 it is the inode, which a later
 * namespace may have.
 * @throws SystemError
 */
export function networkNamespace(): bigint {
  const { socket: open, getsockopt, close } = libc();
  const socket = check('socket', open(AF_INET, SOCK_DGRAM | CLOEXEC, 0));
  try {
    answer ??= new Slab(COOKIE_BYTES + 4);
    const { bytes, address } = answer;
    bytes.writeUInt32LE(COOKIE_BYTES, COOKIE_BYTES);
    check('getsockopt', getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, address, address + COOKIE_BYTES));
    return bytes.readBigUInt64LE(0);
  } catch (error) {
    if (!(error instanceof SystemError && error.code === 'ENOPROTOOPT')) throw error;
    return statSync(OWN, { bigint: true }).ino;
  } finally {
    close(socket);
  }
}

/** Runs `task` in the network namespace of a process, or in this thread's if there is none. */
export function inNetworkOfAny<T>(process: number | undefined, task: () => T): T {
  return process === undefined ? task() : inNetworkOf(process, task);
}
