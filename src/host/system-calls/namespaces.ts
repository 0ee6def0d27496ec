// Network namespaces of other processes (network_namespaces(7)), entered for one call: the namespace belongs to the
// thread.

import { readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { CLOEXEC, check, libc, SystemError } from './libc.ts';

const CLONE_NEWNET = 0x40000000;
const OWN = '/proc/thread-self/ns/net';

/**
 * Runs `task`, which must be synchronous, in the network namespace of another process.
 * @throws SystemError by `call`: `namespace` (`ENOENT` when the process is gone, `EACCES` without CAP_SYS_PTRACE,
 * `EEXIST` when it is in the namespace of this process), `setns` (`EPERM` without CAP_SYS_ADMIN)
 */
export function inNetworkOf<T>(process: number, task: () => T): T {
  const { open, setns, close } = libc();
  const path = `/proc/${process}/ns/net`;
  const own = check('namespace', open(OWN, CLOEXEC));
  try {
    const other = check('namespace', open(path, CLOEXEC));
    try {
      // The pid of an ended process may be reused. Nothing meant for another network may happen in ours.
      if (readlinkSync(`/proc/self/fd/${other}`) === readlinkSync(OWN))
        throw new SystemError('namespace', constants.errno.EEXIST);
      check('setns', setns(other, CLONE_NEWNET));
    } finally {
      close(other);
    }
    try {
      return task();
    } finally {
      check('setns', setns(own, CLONE_NEWNET));
    }
  } finally {
    close(own);
  }
}
