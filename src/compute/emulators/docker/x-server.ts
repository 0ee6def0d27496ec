// The X server of a VNC console: a program of the host, of which the container sees only the socket.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from '../../../consoles/terminal.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import {
  type Companion,
  type ProgramOwner,
  reattachCompanion,
  startCompanion,
} from '../../nodes/lifecycle/node-program.ts';
import { consoleHost } from '../../ports/ports.ts';
import type { Services } from '../../services.ts';
import { refusal } from './engine.ts';
import { KEPT } from './kept.ts';

const PROGRAMS = ['Xtigervnc', 'Xvnc'];
const FIRST_DISPLAY = 100;
/** How long its socket may take to appear. */
const START_MS = 60_000;
const LOG = 'vnc.log';
const ROLE = 'vnc';

/** Displays that nodes of this process have, or are about to get. */
const taken = new Set<number>();

export type XServerNode = Omit<ProgramOwner, 'services'>;

export interface XServer {
  readonly display: number;
  readonly isAlive: boolean;
}

export const socketOf = (display: number): string => `/tmp/.X11-unix/X${display}`;
const lockOf = (display: number): string => `/tmp/.X${display}-lock`;

/**
 * Starts it on a console's port; `resources` end it. @throws Failure `conflict` (`DockerError`) if it is missing or
 * does not start
 */
export async function startXServer(
  node: XServerNode,
  { resolution, port }: { resolution: string; port: number },
  services: Services,
  resources: AsyncDisposableStack,
): Promise<XServer> {
  const found = await Promise.all(PROGRAMS.map((name) => findProgram(name)));
  const program = found.find((path) => path !== undefined);
  if (program === undefined) {
    throw refusal('console_type: VNC consoles need an X server: apt install tigervnc-standalone-server.');
  }
  const words = [
    ...['-extension', 'MIT-SHM', '-geometry', resolution, '-depth', '16'],
    ...['-interface', consoleHost(services.config), '-rfbport', `${port}`, '-AlwaysShared', '-SecurityTypes', 'None'],
  ];
  const end = performance.now() + START_MS;
  for (let display = FIRST_DISPLAY; ; display += 1) {
    if (taken.has(display) || existsSync(socketOf(display)) || existsSync(lockOf(display))) continue;
    taken.add(display);
    resources.defer(() => void taken.delete(display));
    const terminal = await startCompanion(companion(node, services), [program, ...words, `:${display}`], resources);
    const { pid } = terminal;
    const ended = endOf(terminal);
    while (!ended.isOver && performance.now() < end) {
      // Another server of this host may have taken the display meanwhile.
      if (existsSync(socketOf(display)) && holderOf(display) === pid) return serverOf(display, ended);
      await sleep(20);
    }
    if (ended.isOver && ![undefined, pid].includes(holderOf(display))) continue;
    throw refusal(`The X server of ${node.name} does not start: ${terminal.lastOutput().trim().slice(-300)}`);
  }
}

/** Whether an X server outlived the server and can be reattached. */
export function hasXServer(projectId: string, nodeId: string, { survivingPrograms }: Services): boolean {
  return survivingPrograms.has(projectId, nodeId, ROLE);
}

/** The X server that outlived the server. */
export function reattachXServer(
  node: XServerNode,
  display: number,
  services: Services,
  resources: AsyncDisposableStack,
): XServer | undefined {
  const terminal = reattachCompanion(companion(node, services), resources);
  if (!terminal) return undefined;
  taken.add(display);
  resources.defer(() => void taken.delete(display));
  return serverOf(display, endOf(terminal));
}

/** Ends the X server that outlived the server, if any. */
export async function endXServer(node: XServerNode, services: Services): Promise<void> {
  await reattachCompanion(companion(node, services))?.stop();
}

function companion(node: XServerNode, services: Services): Companion {
  return { kind: 'docker', version: KEPT.version, role: ROLE, node: { ...node, services }, log: LOG };
}

function endOf(terminal: Terminal): { isOver: boolean } {
  const state = { isOver: false };
  terminal.on('exit', () => {
    state.isOver = true;
  });
  return state;
}

function serverOf(display: number, ended: { isOver: boolean }): XServer {
  return {
    display,
    get isAlive() {
      return !ended.isOver;
    },
  };
}

/** Id of the process that has a display; undefined if none has. */
function holderOf(display: number): number | undefined {
  try {
    return Number(readFileSync(lockOf(display), 'latin1'));
  } catch {
    return undefined;
  }
}
