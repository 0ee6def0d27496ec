// A whole compute in the test's own process, with files, ports and programs of this host.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Compute } from '../../src/compute/compute.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Message } from '../../src/events/message.ts';
import { Fabric } from '../../src/fabric/fabric.ts';
import { findOurs } from '../../src/host/processes/child-processes.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { App } from '../../src/http/app/app.ts';
import { Database } from '../../src/store/database.ts';
import { Documents } from '../../src/store/documents.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import type { Body } from '../body.ts';
import { eventually } from '../eventually.ts';
import { freePort, Peer } from '../fabric/peers.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** Why tests that need the real program do not run here. */
export const noVpcs: string | false = (await findProgram('vpcs')) === undefined && 'vpcs is not installed';

export interface Answer {
  status: number;
  body: Body;
  headers: Headers;
}

export interface Settings {
  local?: boolean;
  instance?: string;
  /** What runs PCs. */
  engine?: 'automatic' | 'vpcs' | 'built-in';
  vpcs_path?: string;
  vboxmanage_path?: string;
  vmrun_path?: string;
  iourc_path?: string;
  /** How frames get to QEMU's machines and back. */
  frames?: 'automatic' | 'tap' | 'udp';
  /** Whether any options of QEMU may be given. */
  allow_unsafe_options?: boolean;
  dynamips_path?: string;
  /** Whether routers share memory. */
  ghost_ios_support?: string;
  projects_path?: string;
  additional_images_path?: string;
  allowed_interfaces?: string;
  default_nat_interface?: string;
  nat_network?: string;
  /** Whether the kernel forwards plain links. */
  kernel_links?: 'automatic' | 'off';
  /** Of section [Docker]. */
  docker?: { socket_path: string; privileged?: 'automatic' | 'always' | 'never' };
  console?: [number, number];
  udp?: [number, number];
}

/** Processes of the nodes of an instance, without the one that holds them. */
export const programsOf = (instance: string) => findOurs(instance).filter(({ nodeId }) => nodeId !== '');

export class Lab {
  readonly app: App;
  readonly compute: Compute;
  /** Stops the compute and its fabric; happens by itself when the test ends. */
  readonly stop: () => Promise<void>;
  readonly config: Config;
  /** The state directory. */
  readonly directory: string;
  /** Everything that was announced. */
  readonly messages: Message[] = [];

  constructor(compute: Compute, config: Config, stop: () => Promise<void>) {
    this.compute = compute;
    this.stop = stop;
    this.config = config;
    this.directory = config.state;
    this.app = new App(compute.routes);
    const heard = compute.events.subscribe();
    heard.onArrival(() => this.messages.push(...heard.takeAll(Infinity)));
  }

  /** A request below `/v2/compute`. */
  async request(method: string, path: string, body?: unknown): Promise<Answer> {
    const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await this.app.request(`/v2/compute${path}`, { method, body: text });
    const content = await response.text();
    const json = response.headers.get('content-type') === 'application/json' && content !== '';
    return { status: response.status, body: json ? JSON.parse(content) : content, headers: response.headers };
  }

  /** The same, for a request that must succeed. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.request(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** A new project; answers its path below `/v2/compute`. */
  async project(id: string = randomUUID()): Promise<string> {
    await this.expect(201, 'POST', '/projects', { name: 'test', project_id: id });
    return `/projects/${id}`;
  }

  /** A new node; answers its path below `/v2/compute`. */
  async node(project: string, kind: string, body: object = {}): Promise<string> {
    const made = await this.expect(201, 'POST', `${project}/${kind}/nodes`, { name: 'N1', ...body });
    return `${project}/${kind}/nodes/${made.node_id}`;
  }

  /** The directory of a project. */
  directoryOf(project: string): string {
    return join(this.config.Server.projects_path, project.slice('/projects/'.length));
  }

  /** A peer with a cable to a port of a device, and what sends to that port; `more` are members of the NIO. */
  async peer(t: TestContext, node: string, port: number, more: object = {}) {
    const peer = await Peer.open(t);
    const nio = { type: 'nio_udp', lport: await freePort(), rhost: '127.0.0.1', rport: peer.port, ...more };
    await this.expect(201, 'POST', `${node}/adapters/0/ports/${port}/nio`, nio);
    return { peer, nio, send: (...frames: Buffer[]) => peer.send(nio.lport, ...frames) };
  }

  /** What was announced since the last call, without the given actions. */
  events(...without: string[]): string[] {
    const messages = this.messages.splice(0).filter(({ action }) => !without.includes(action));
    return messages.map(({ action, event }) => ('status' in event ? `${action} ${event.status}` : action));
  }

  /** Waits for a message. */
  async told(action: string, fits: (event: Body) => boolean = () => true, milliseconds?: number): Promise<Body> {
    const found = await eventually(
      () => `${action}; told: ${JSON.stringify(this.messages.map(({ line }) => line))}`,
      () => this.messages.find((message) => message.action === action && fits(message.event)),
      Boolean,
      milliseconds,
    );
    return found!.event;
  }
}

/** A compute on a directory of its own, stopped when the test ends. */
export async function startLab(t: TestContext, settings: Settings = {}, state?: string): Promise<Lab> {
  const directory = state ?? (await scratchDirectory(t));
  const [consoleFirst, consoleLast] = settings.console ?? [12_000, 13_999];
  const [udpFirst, udpLast] = settings.udp ?? [14_000, 15_999];
  const server: Record<string, string | undefined> = {
    local: String(settings.local ?? false),
    projects_path: settings.projects_path,
    additional_images_path: settings.additional_images_path,
    allowed_interfaces: settings.allowed_interfaces,
    default_nat_interface: settings.default_nat_interface,
    nat_network: settings.nat_network,
    console_start_port_range: String(consoleFirst),
    console_end_port_range: String(consoleLast),
    udp_start_port_range: String(udpFirst),
    udp_end_port_range: String(udpLast),
  };
  const flags = Object.entries(server).flatMap(([key, value]) =>
    value === undefined ? [] : [{ section: 'Server' as const, key, value, flag: key }],
  );
  for (const [section, key] of [
    ['VPCS', 'engine'],
    ['VPCS', 'vpcs_path'],
    ['VirtualBox', 'vboxmanage_path'],
    ['VMware', 'vmrun_path'],
    ['IOU', 'iourc_path'],
    ['Qemu', 'frames'],
    ['Qemu', 'allow_unsafe_options'],
    ['Server', 'kernel_links'],
    ['Dynamips', 'dynamips_path'],
    ['Dynamips', 'ghost_ios_support'],
  ] as const) {
    const value = settings[key];
    if (value !== undefined) flags.push({ section: section as never, key, value: String(value), flag: key });
  }
  for (const [key, value] of Object.entries(settings.docker ?? {})) {
    flags.push({ section: 'Docker' as never, key, value, flag: key });
  }
  const { config } = loadConfig({
    flags,
    environment: {},
    workingDirectory: directory,
    home: directory,
    state: directory,
  });
  const fabric = new Fabric({ kernelLinks: config.Server.kernel_links });
  await fabric.start();
  const database = await Database.open(join(directory, 'labwire.db'), MIGRATIONS);
  const documents = new Documents(database);
  const compute = new Compute({ config, fabric, instance: settings.instance ?? randomUUID(), documents });
  await compute.start();
  const stop = async (): Promise<void> => {
    await compute.stop();
    await fabric.stop();
    await database.close();
  };
  t.after(stop);
  return new Lab(compute, config, stop);
}
