// What a daemon, the supervisor of its programs and these programs have of the host: descriptors by kind, threads, memory, files, ports,
// interfaces; and what an Engine has for it.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { globalAgent } from 'node:http';
import { amidChanges } from '../amid-changes.ts';
import type { TestEngine } from '../compute/docker-engine.ts';
import { keeperOf } from '../node-network.ts';
import type { Daemon } from '../system/daemon.ts';
import { anonymousMebibytes, processesIn } from '../system/processes.ts';

/** Numbers that are to be what they were, by what they count. */
export type Census = Record<string, number>;

/** The database and its companions come and go as it likes. */
const OWN_FILES = /\.db(-wal|-shm|-journal)?$/;

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // ended meanwhile
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** `socket`, `pipe`, `anon_inode:[eventpoll]`, or `file`. */
function kindOf(target: string): string {
  if (target.startsWith('anon_inode:')) return target;
  return /^(socket|pipe):/.exec(target)?.[1] ?? (target.startsWith('/dev/') ? target.replace(/\d+$/, '') : 'file');
}

function filesBelow(directory: string): number {
  const entries = amidChanges(() => readdirSync(directory, { withFileTypes: true, recursive: true }));
  return entries.filter((entry) => !OWN_FILES.test(entry.name)).length;
}

/** What the process of this role is called in a census: the daemon, the supervisor, or the name of a program. */
function roleOf(pid: number, daemon: Daemon): string {
  if (pid === daemon.pid) return 'daemon';
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    // It takes a title of its own a moment after its start.
    if (words[0] === 'labwired: supervisor') return 'supervisor';
    return words.includes('supervise') ? 'supervisor' : (words[0]?.split('/').at(-1) ?? '');
  } catch {
    return 'ended';
  }
}

/** @param engine whose containers are the daemon's alone */
export async function censusOf(daemon: Daemon, engine?: TestEngine): Promise<Census> {
  const census: Census = {};
  const add = (what: string, number = 1): void => {
    census[what] = (census[what] ?? 0) + number;
  };
  // Connections that this process keeps for later are descriptors there.
  globalAgent.destroy();
  const ports = await daemon.get('/v2/compute/network/ports');
  globalAgent.destroy();
  add('console ports', ports.console_ports.length);
  add('UDP ports', ports.udp_ports.length);
  add('projects', (await daemon.get('/v2/projects')).length);
  globalAgent.destroy();
  for (const pid of processesIn(daemon.directory)) {
    // It stays until the daemon stops.
    if (pid === keeperOf(daemon.state)) continue;
    const role = roleOf(pid, daemon);
    add(`processes: ${role}`);
    if (role !== 'daemon' && role !== 'supervisor') continue;
    add(`threads: ${role}`, names(`/proc/${pid}/task`).length);
    for (const descriptor of names(`/proc/${pid}/fd`)) {
      const target = linkOf(`/proc/${pid}/fd/${descriptor}`);
      if (target !== undefined) add(`descriptors: ${role}: ${kindOf(target)}`);
    }
  }
  // Of this network namespace: two lines of head, then one each.
  add('interfaces of the host', readFileSync('/proc/self/net/dev', 'latin1').trim().split('\n').length - 2);
  if (engine) {
    add('containers', engine.containers().length);
    add('volumes of the Engine', engine.docker('volume', 'ls', '-q').split('\n').filter(Boolean).length);
    add('processes of the Engine', processesIn(engine.directory).length);
  }
  add('files in the state directory', filesBelow(daemon.state));
  add('files in the temporary directory', filesBelow(daemon.temporary));
  return census;
}

/** What there is more, or less, than before. */
export function changes(before: Census, after: Census): string[] {
  const all = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...all]
    .filter((what) => (before[what] ?? 0) !== (after[what] ?? 0))
    .map((what) => `${what}: ${before[what] ?? 0} -> ${after[what] ?? 0}`);
}

/** MiB of anonymous memory of the daemon and of the supervisor, if there is one. */
export function memoryOf(daemon: Daemon): { daemon: number; supervisor: number } {
  const supervisor = processesIn(daemon.directory).find((pid) => roleOf(pid, daemon) === 'supervisor');
  return {
    daemon: anonymousMebibytes(daemon.pid),
    supervisor: supervisor === undefined ? 0 : anonymousMebibytes(supervisor),
  };
}
