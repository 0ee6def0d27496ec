// Routers of a compute whose image is a program of ours, built here, that does on the wire what images of IOU do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { Client } from '../consoles/harness.ts';
import { type Lab, type Settings, startLab } from './support.ts';

/** Why tests that need a compiler do not run here. */
export const noCompiler: string | false = (await findProgram('cc')) === undefined && 'cc is not installed';

let built: string | undefined;

/** Path of the program that stands in for an image. */
export function image(): string {
  if (built !== undefined) return built;
  const directory = mkdtempSync(join(tmpdir(), 'iou-image-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  built = join(directory, 'i86bi.bin');
  execFileSync('cc', ['-O2', '-o', built, join(import.meta.dirname, '../guest/iou/image.c')]);
  return built;
}

/** A licence in the right form for this host; nobody here looks at its key. */
export const LICENCE = `[license]\n${hostname()} = 0123456789abcdef;\n`;

export interface Routers {
  lab: Lab;
  /** Path of the project below `/v2/compute`, and its directory. */
  project: string;
  directory: string;
}

/** A compute that has the image. Licences that clients submit go to a home directory of the test's own. */
export async function routers(t: TestContext, settings: Settings = {}, state?: string): Promise<Routers> {
  // Tests that run side by side hardly share ports, either.
  const first = 16_000 + 20 * randomInt(0, 190);
  const ports = { console: [first, first + 19], udp: [first, first + 19] } satisfies Settings;
  const lab = await startLab(t, { instance: randomUUID(), ...ports, ...settings }, state);
  putImage(lab);
  const project = await lab.project();
  return { lab, project, directory: lab.directoryOf(project) };
}

export function putImage(lab: Lab): void {
  const folder = join(lab.config.Server.images_path, 'IOU');
  mkdirSync(folder, { recursive: true });
  copyFileSync(image(), join(folder, 'i86bi.bin'));
}

/** Ids that tests which run side by side as one user hardly share; a controller gives the lowest ones. */
let id = 0;
export function useIds(first: number): void {
  id = first + randomInt(0, 200);
}
export const nextId = (): number => ++id;

export class Router {
  readonly lab: Lab;
  readonly path: string;
  readonly directory: string;
  readonly applicationId: number;

  constructor(routers: Routers, path: string, applicationId: number) {
    this.lab = routers.lab;
    this.path = path;
    this.applicationId = applicationId;
    this.directory = join(routers.directory, 'project-files/iou', path.split('/').at(-1)!);
  }

  /** @param body `application_id` included, if it matters */
  static async make(routers: Routers, body: object = {}): Promise<Router> {
    const application_id = nextId();
    const wanted = { path: 'i86bi.bin', application_id, ...body };
    return new Router(routers, await routers.lab.node(routers.project, 'iou', wanted), wanted.application_id);
  }

  async start(): Promise<void> {
    await this.lab.expect(200, 'POST', `${this.path}/start`, { license_check: false });
  }

  async stop(): Promise<void> {
    await this.lab.expect(204, 'POST', `${this.path}/stop`);
  }

  async console(t: TestContext): Promise<RouterConsole> {
    const { console } = await this.lab.expect(200, 'GET', this.path);
    const client = await Client.open(t, console);
    await client.sees(/Router>$/);
    return new RouterConsole(client);
  }

  get nvram(): string {
    return join(this.directory, `nvram_${String(this.applicationId).padStart(5, '0')}`);
  }
}

export class RouterConsole {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /** What the router says to a command. */
  async says(command: string): Promise<string> {
    this.client.text = '';
    this.client.send(`${command}\r`);
    const text = await this.client.sees(/Router>$/);
    const [echo, ...lines] = text.split('\r\n');
    assert.equal(echo, command, 'it echoes what is typed, and nobody else does');
    return lines.slice(0, -1).join('\n');
  }
}

/** Joins two ports by a cable. */
export async function join2(
  { lab, project }: Routers,
  one: { path: string },
  onePort: string,
  other: { path: string },
  otherPort: string,
): Promise<void> {
  const ports: number[] = [];
  for (const _ of [one, other]) ports.push((await lab.expect(201, 'POST', `${project}/ports/udp`, {})).udp_port);
  for (const [node, port, lport, rport] of [
    [one, onePort, ports[0], ports[1]],
    [other, otherPort, ports[1], ports[0]],
  ] as const) {
    const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport };
    await lab.expect(201, 'POST', nioPath(node, port), nio);
  }
}

/** `1/2`: adapter and port. */
export function nioPath({ path }: { path: string }, port: string, suffix = 'nio'): string {
  const [adapter, number] = port.split('/');
  return `${path}/adapters/${adapter}/ports/${number}/${suffix}`;
}
