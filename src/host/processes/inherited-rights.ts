// The rights of programs that this process starts. systemd gives the service its capabilities as ambient ones
// (capabilities(7)), which every program would inherit. Here only programs that need them get them.
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { loadKoffi } from '../system-calls/koffi.ts';

const { EPERM } = constants.errno;

// Values of <linux/prctl.h>.
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const AMBIENT_RAISE = 2;
const AMBIENT_CLEAR_ALL = 4;
/** The third, of <linux/capability.h>. */
const CAPABILITY_VERSION = 0x20080522;

/** Numbers of the capabilities that this process received for its programs. */
let given: number[] = [];

function prctl(option: number, ...values: number[]): void {
  const call = loadKoffi()
    .load('libc.so.6')
    .func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)');
  const [first = 0, second = 0] = values;
  if (call(option, first, second, 0, 0) < 0) throw failed('prctl');
}

/**
 * Programs started from now on inherit no capability. This process keeps its own. Main thread only, which starts all
 * programs.
 */
export function withholdRights(): void {
  const text = /^CapAmb:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0';
  const bits = BigInt(`0x${text}`);
  if (bits === 0n) return;
  given = Array.from({ length: 64 }, (_none, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n);
  prctl(PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL);
}

/** Stops programs from gaining rights by setuid or file capabilities. Cannot be reverted. Main thread only. */
export function forbidNewRights(): void {
  prctl(PR_SET_NO_NEW_PRIVS, 1);
  const libc = loadKoffi().load('libc.so.6');
  const header = Buffer.alloc(8);
  header.writeUInt32LE(CAPABILITY_VERSION);
  // Twice: effective, permitted and inheritable, 32 capabilities each.
  const sets = new Uint32Array(6);
  const call = (name: 'capget' | 'capset'): boolean => libc.func(`int ${name}(void *, void *)`)(header, sets) === 0;
  if (!call('capget')) throw failed('capget');
  if (sets[2] === 0 && sets[5] === 0) return;
  sets[2] = 0;
  sets[5] = 0;
  // The unit's SystemCallFilter= forbids the call. Remaining inheritable capabilities do no harm then: no program gains
  // them by its file.
  if (!call('capset') && loadKoffi().errno() !== EPERM) throw failed('capset');
}

function failed(call: string): Error {
  return new Error(`${call}: ${getSystemErrorName(-loadKoffi().errno())}`);
}

/**
 * Runs `start` so that a program started in it inherits the rights that `withholdRights` withholds. Main thread only;
 * `start` must be synchronous.
 */
export function withRights<Result>(start: () => Result): Result {
  if (given.length === 0) return start();
  try {
    for (const capability of given) prctl(PR_CAP_AMBIENT, AMBIENT_RAISE, capability);
    return start();
  } finally {
    prctl(PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL);
  }
}
