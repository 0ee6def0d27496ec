// For `skip` of a test: what this host lacks, found out without the code that is to be tested.
import { spawnSync } from 'node:child_process';

/** Why expressions cannot be compiled here. */
export const noLibpcap: string | false =
  spawnSync('sh', ['-c', '/sbin/ldconfig -p | grep -q libpcap.so'], { stdio: 'ignore' }).status === 0
    ? false
    : 'libpcap is not installed';

/** Why a program cannot be run in namespaces of its own, by these options of unshare and a command that tries them; false if it can. */
export function cannotUnshare(what: string, ...words: string[]): string | false {
  return spawnSync('unshare', words, { stdio: 'ignore' }).status === 0 ? false : `${what} cannot be made here`;
}
