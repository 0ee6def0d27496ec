// Preloaded in a process with a fabric: kills it in place of the nth step of the fabric's thread, counted from 1. A step
// writes a map of kernel links or loads one of their programs.

import { isMainThread } from 'node:worker_threads';
import { libc } from '../../src/host/system-calls/libc.ts';

/** Commands of bpf(2): BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM, BPF_PROG_LOAD. */
const STEPS = [2, 3, 5];

export const DIES_AT = 'LABWIRE_TEST_DIES_AT';

if (!isMainThread) {
  const calls = libc();
  const { bpf } = calls;
  let left = Number(process.env[DIES_AT]);
  calls.bpf = (...words) => {
    if (STEPS.includes(Number(words[1])) && --left === 0) process.kill(process.pid, 'SIGKILL');
    return bpf(...words);
  };
}
