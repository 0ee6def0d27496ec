// Child processes: their environment, and finding those that a previous run of the daemon left behind. A process is
// ours if its environment says so; its name or command line proves nothing.

import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_SEARCH_PATH } from './program-path.ts';

const INSTANCE = 'LABWIRE_INSTANCE';
const NODE = 'LABWIRE_NODE';

const GRACE_MS = 1000;
const POLL_MS = 25;

/** The variable that marks processes of a state directory, by its uuid. */
export function instanceToken(instance: string): Record<string, string> {
  return { [INSTANCE]: instance };
}

/** The variables that mark a node's process: the uuids of the state directory and of the node. */
export function processToken(instance: string, nodeId: string): Record<string, string> {
  return { ...instanceToken(instance), [NODE]: nodeId };
}

/** The whole environment of a child process: a few plain variables and `extra`, nothing of the daemon's own. */
export function childEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: DEFAULT_SEARCH_PATH, HOME: homedir(), LANG: 'C.UTF-8', TERM: 'xterm', ...extra };
}

/** A process that carries our token. */
export interface OwnedProcess {
  pid: number;
  nodeId: string;
  /** Clock ticks between the machine's start and the process's. With the pid it identifies a process uniquely. */
  startTime: string;
}

/** Field 22 of /proc/pid/stat, see proc(5). Undefined if the process does not exist. */
function startTimeOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Field 2 is the name in parentheses, which may contain blanks and parentheses.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** Empty if the process is gone, a zombie, or another user's. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** The running processes with the token of `instance`, except this one. One pass over /proc. */
export function findOurs(instance: string): OwnedProcess[] {
  const found: OwnedProcess[] = [];
  const token = `${INSTANCE}=${instance}`;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid || !environmentOf(pid).includes(token)) continue;
    // Read the environment again after the start time: if the pid was reused in between, it does not match and `signal`
    // notices.
    const startTime = startTimeOf(pid);
    const environment = environmentOf(pid);
    if (startTime === undefined || !environment.includes(token)) continue;
    const nodeId = environment.find((line) => line.startsWith(`${NODE}=`))?.slice(NODE.length + 1) ?? '';
    found.push({ pid, nodeId, startTime });
  }
  return found;
}

function signal(owned: OwnedProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (startTimeOf(owned.pid) !== owned.startTime) return;
  try {
    process.kill(owned.pid, name);
  } catch {
    // it ended meanwhile, or is another user's now; the next pass shows which
  }
}

/** Signals all our processes, including new ones, until none is left or the time is over. */
async function end(
  instance: string,
  name: 'SIGTERM' | 'SIGKILL',
  seen: Map<string, OwnedProcess>,
  kept: (owned: OwnedProcess) => boolean,
): Promise<OwnedProcess[]> {
  const signalled = new Set<string>();
  const deadline = performance.now() + GRACE_MS;
  for (;;) {
    const running = findOurs(instance).filter((owned) => !kept(owned));
    for (const owned of running) {
      const key = `${owned.pid} ${owned.startTime}`;
      seen.set(key, owned);
      if (!signalled.has(key)) signal(owned, name);
      signalled.add(key);
    }
    if (running.length === 0 || performance.now() > deadline) return running;
    await sleep(POLL_MS);
  }
}

/**
 * Ends every process with the token of `instance`, except `kept`: SIGTERM and, a second later, SIGKILL.
 * @returns the processes found, and those of them that did not end
 */
export async function reapOurs(
  instance: string,
  kept: (owned: OwnedProcess) => boolean = () => false,
): Promise<{ found: OwnedProcess[]; left: OwnedProcess[] }> {
  const seen = new Map<string, OwnedProcess>();
  let left = await end(instance, 'SIGTERM', seen, kept);
  if (left.length > 0) left = await end(instance, 'SIGKILL', seen, kept);
  return { found: [...seen.values()], left };
}

/** Bytes of the host's memory and swap that a process uses; undefined if it is gone. */
export function memoryOf(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return (kibibytes('VmRSS') + kibibytes('VmSwap')) * 1024;
  } catch {
    return undefined;
  }
}
