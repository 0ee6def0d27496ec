// Containers of a compute, with a real Docker Engine.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUSYBOX, type TestEngine, tryEngine } from './docker-engine.ts';
import { type Body, type Lab, type Settings, startLab } from './support.ts';

const tried = await tryEngine();
if (typeof tried !== 'string') after(() => tried[Symbol.asyncDispose]());

/** Why tests that need an Engine do not run here. */
export const noEngine: string | false = typeof tried === 'string' ? tried : false;

/** The one of this test file. */
export function engine(): TestEngine {
  if (typeof tried === 'string') throw new Error(tried);
  return tried;
}

export interface Containers {
  lab: Lab;
  /** Path of the project below `/v2/compute`, its id, and its directory. */
  project: string;
  projectId: string;
  directory: string;
  instance: string;
}

export async function containers(t: TestContext, settings: Settings = {}, state?: string): Promise<Containers> {
  const instance = settings.instance ?? randomUUID();
  const docker = { socket_path: engine().socketPath, ...settings.docker };
  const lab = await startLab(t, { ...settings, instance, docker }, state);
  const projectId = randomUUID();
  const project = await lab.project(projectId);
  return { lab, project, projectId, directory: join(lab.config.Server.projects_path, projectId), instance };
}

export async function container(lab: Lab, project: string, body: object = {}): Promise<string> {
  return await lab.node(project, 'docker', { image: BUSYBOX, console_type: 'telnet', ...body });
}

/** Plugs a cable between two ports, given as node path and adapter. */
export async function cable(lab: Lab, project: string, ends: readonly [string, number][]): Promise<void> {
  const ports: number[] = [];
  for (const _ of ends) ports.push((await lab.expect(201, 'POST', `${project}/ports/udp`)).udp_port);
  for (const [index, [node, adapter]] of ends.entries()) {
    const nio = { type: 'nio_udp', lport: ports[index], rhost: '127.0.0.1', rport: ports[1 - index] };
    // Switches have their ports on one adapter, machines an adapter for each port.
    const at = /\/(docker|qemu)\//.test(node) ? `${adapter}/ports/0` : `0/ports/${adapter}`;
    await lab.expect(201, 'POST', `${node}/adapters/${at}/nio`, nio);
  }
}

/** Somebody at a console who speaks no telnet but with ears for it. */
export class Typist {
  readonly socket: Socket;
  heard = '';

  constructor(t: TestContext, port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (bytes) => {
      this.heard += bytes.toString('latin1');
    });
    this.socket.on('error', () => {});
    t.after(() => this.socket.destroy());
  }

  /** Waits until something was said since the last call. */
  async until(what: RegExp): Promise<string> {
    for (const end = performance.now() + 60_000; performance.now() < end; await sleep(20)) {
      const found = what.exec(this.heard);
      if (!found) continue;
      this.heard = this.heard.slice(found.index + found[0].length);
      return found[0];
    }
    throw new Error(`waited in vain for ${what}; heard: ${JSON.stringify(this.heard.slice(-2000))}`);
  }

  /** Runs a command; its answer ends with words that the shell puts together. */
  async run(command: string): Promise<string> {
    this.heard = '';
    this.socket.write(`${command}; echo do''ne $?.\r`);
    for (const end = performance.now() + 60_000; performance.now() < end; await sleep(10)) {
      // The shell wraps what it echoes.
      const answer = /[\s\S]*do''ne \$\?\.([\s\S]*)done (\d+)\./.exec(this.heard.replaceAll('\r\r\n', ''));
      if (answer) return `${answer[1]!.trim()}\n${answer[2]}`;
    }
    throw new Error(`waited in vain for the end of ${command}; heard: ${JSON.stringify(this.heard)}`);
  }
}

export async function typist(t: TestContext, lab: Lab, node: string): Promise<Typist> {
  const { console } = await lab.expect(200, 'GET', node);
  return new Typist(t, console);
}

export async function status(lab: Lab, node: string): Promise<Body> {
  return (await lab.expect(200, 'GET', node)).status;
}

/** Asks again and again until the answer fits. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  fits: (answer: T) => boolean = Boolean,
): Promise<T> {
  for (const end = performance.now() + 60_000; ; await sleep(50)) {
    const answer = await ask();
    if (fits(answer)) return answer;
    assert.ok(performance.now() < end, `waited in vain for ${what}; last: ${JSON.stringify(answer)}`);
  }
}
