// What the kernel has loaded of eBPF, by identifier.

import { readFileSync } from 'node:fs';
import { libc, Slab } from '../../src/host/system-calls/libc.ts';
import { openMapsOf } from '../../src/host/system-calls.ts';

const SYS_BPF = process.arch === 'arm64' ? 280 : 321;
/** BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID. */
const COMMANDS = { program: 13, map: 14 };
const ATTRIBUTES_BYTES = 128;

export function isLoaded(kind: keyof typeof COMMANDS, id: number): boolean {
  const slab = new Slab(ATTRIBUTES_BYTES);
  slab.words[0] = id;
  const descriptor = libc().bpf(SYS_BPF, COMMANDS[kind], slab.address, ATTRIBUTES_BYTES);
  if (descriptor >= 0) libc().close(descriptor);
  return descriptor >= 0;
}

/** The identifiers of the maps that these programs use. */
export function mapsOf(programs: readonly number[]): Set<number> {
  const found = new Set<number>();
  for (const program of programs)
    for (const map of openMapsOf(program).values()) {
      found.add(Number(/^map_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${map.descriptor}`, 'latin1'))![1]));
      map.close();
    }
  return found;
}
