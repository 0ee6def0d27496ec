// Child processes: what they are given, and how those are found again that a former life of the daemon left behind.
// A process is ours if its environment says so; its name or its command line prove nothing.

import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_SEARCH_PATH } from './programs.ts';

const INSTANCE = 'LABWIRE_INSTANCE';
const NODE = 'LABWIRE_NODE';

const GRACE_MILLISECONDS = 1000;
const POLL_MILLISECONDS = 20;

/** The variables by which a process is recognised: the state directory's uuid and the node's. */
export function processToken(instance: string, nodeId: string): Record<string, string> {
  return { [INSTANCE]: instance, [NODE]: nodeId };
}

/** The whole environment of a child process: a few plain variables and `extra`, nothing of the daemon's own. */
export function childEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: DEFAULT_SEARCH_PATH, HOME: homedir(), LANG: 'C.UTF-8', TERM: 'xterm', ...extra };
}

/** A process that carries our token. */
export interface OwnedProcess {
  pid: number;
  nodeId: string;
  /** Clock ticks between the machine's start and the process's: with the pid it names one process for ever. */
  startTime: string;
}

/** Fields 3 (state) and 22 (start time) of /proc/pid/stat, see proc(5). Undefined when there is no such process. */
function statOf(pid: number): { state: string; startTime: string } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // Field 2 is the name in parentheses, which may hold blanks and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0]!, startTime: fields[19]! };
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return []; // gone, or another user's
  }
}

/** True while it runs; a zombie does not. */
function isAlive({ pid, startTime }: OwnedProcess): boolean {
  const found = statOf(pid);
  return found !== undefined && found.startTime === startTime && found.state !== 'Z' && found.state !== 'X';
}

/** The running processes that carry the token of `instance`, this one excepted. One pass over /proc. */
export function findOurs(instance: string): OwnedProcess[] {
  const found: OwnedProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    // The start time before the environment: should the pid change hands in between, the two do not fit and isAlive says so.
    const stat = statOf(pid);
    if (stat === undefined) continue;
    const environment = environmentOf(pid);
    if (!environment.includes(`${INSTANCE}=${instance}`)) continue;
    const nodeId = environment.find((line) => line.startsWith(`${NODE}=`))?.slice(NODE.length + 1) ?? '';
    found.push({ pid, nodeId, startTime: stat.startTime });
  }
  return found;
}

function signal(owned: OwnedProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (!isAlive(owned)) return;
  try {
    process.kill(owned.pid, name);
  } catch {
    // it went by itself in the meantime, or has become another user's; the caller looks again
  }
}

async function waitForEnd(processes: OwnedProcess[], milliseconds: number): Promise<OwnedProcess[]> {
  const deadline = performance.now() + milliseconds;
  let left = processes.filter(isAlive);
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(POLL_MILLISECONDS);
    left = left.filter(isAlive);
  }
  return left;
}

/**
 * Ends every process that carries the token of `instance`: SIGTERM and, a second later, SIGKILL.
 * @returns those that were found, and of these the ones that would not go
 */
export async function reapOurs(instance: string): Promise<{ found: OwnedProcess[]; left: OwnedProcess[] }> {
  const found = findOurs(instance);
  for (const owned of found) signal(owned, 'SIGTERM');
  const stubborn = await waitForEnd(found, GRACE_MILLISECONDS);
  for (const owned of stubborn) signal(owned, 'SIGKILL');
  return { found, left: await waitForEnd(stubborn, GRACE_MILLISECONDS) };
}
