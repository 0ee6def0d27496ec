import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { findProgram } from '../../src/host/processes/program-path.ts';
import type { Body } from '../body.ts';
import { Typist as GuestTypist } from '../guest/guest.ts';
import { BUSYBOX, type TestEngine, tryEngine } from './docker-engine.ts';
import { type Lab, type Settings, startLab } from './support.ts';

const tried = await tryEngine();
if (typeof tried !== 'string') after(() => tried[Symbol.asyncDispose]());

/** Why tests that need an Engine do not run here. */
export const noEngine: string | false = typeof tried === 'string' ? tried : false;

/** Why containers have no VNC console here. */
export const noX = noEngine || ((await findProgram('Xtigervnc')) === undefined ? 'Xtigervnc is not installed' : false);

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

export async function containers(t: TestContext, settings: Settings = {}): Promise<Containers> {
  const instance = settings.instance ?? randomUUID();
  const docker = { socket_path: engine().socketPath, ...settings.docker };
  const directory = await mkdtemp(join(tmpdir(), 'labwire-docker-'));
  const lab = await startLab(t, { ...settings, instance, docker }, directory);
  // After the lab: its containers write into it as long as they run.
  t.after(() => rm(directory, { recursive: true, force: true }));
  const projectId = randomUUID();
  const project = await lab.project(projectId);
  return { lab, project, projectId, directory: join(lab.config.Server.projects_path, projectId), instance };
}

export async function container(lab: Lab, project: string, body: object = {}): Promise<string> {
  return await lab.node(project, 'docker', { image: BUSYBOX, console_type: 'telnet', ...body });
}

/** Plugs a cable between two ports, given as node path and adapter; answers its NIOs. */
export async function cable(lab: Lab, project: string, ends: readonly [string, number][]): Promise<object[]> {
  const ports: number[] = [];
  for (const _ of ends) ports.push((await lab.expect(201, 'POST', `${project}/ports/udp`)).udp_port);
  const nios: object[] = [];
  for (const [index, [node, adapter]] of ends.entries()) {
    const nio = { type: 'nio_udp', lport: ports[index], rhost: '127.0.0.1', rport: ports[1 - index] };
    // Switches have their ports on one adapter, machines an adapter for each port.
    const at = /\/(docker|qemu)\//.test(node) ? `${adapter}/ports/0` : `0/ports/${adapter}`;
    await lab.expect(201, 'POST', `${node}/adapters/${at}/nio`, nio);
    nios.push(nio);
  }
  return nios;
}

/** Somebody at the console of a container. */
export class Typist extends GuestTypist {
  /** Answers what the command said, and its exit code in a line of its own. */
  override async run(command: string): Promise<string> {
    const heard = await super.run(command);
    // A shell that was not ready yet echoes it once more.
    const answer = heard.split(/do\s*''\s*ne\s*\$\s*\?/).at(-1)!;
    const [, said = '', code = ''] = /^(?:\s*\$\s*\?)?([\s\S]*)done (\d+)/.exec(answer) ?? [];
    return `${said.trim()}\n${code}`;
  }
}

export async function typist(t: TestContext, lab: Lab, node: string): Promise<Typist> {
  const { console } = await lab.expect(200, 'GET', node);
  return new Typist(t, console);
}

export async function status(lab: Lab, node: string): Promise<Body> {
  return (await lab.expect(200, 'GET', node)).status;
}
