// The TraceNG node: kept, linked and moved with its lab. Its program exists only for Windows, so it never runs here.
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { TracengCreate, TracengUpdate } from '../../../api/kinds/traceng.ts';
import { conflict } from '../../../failures.ts';
import { copyFiles } from '../../nodes/files.ts';
import { Node, type NodeIdentity, nodeDirectory } from '../../nodes/node.ts';
import { AdapterPorts } from '../../nodes/ports/adapter-ports.ts';
import type { NodePort, PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';

export const MODULE = 'traceng';
export const PORT_RULES: PortRules = { exception: 'TraceNGError', nios: new Set(['nio_udp']) };
const { exception } = PORT_RULES;

interface Settings {
  /** IPv4, or empty. */
  ipAddress: string;
  defaultDestination: string;
}

/** The reason why it never starts. */
export const UNAVAILABLE = 'TraceNG is a program of Windows; use a VPCS node, whose command "trace" does the same.';

export class TracengNode extends Node {
  readonly type = MODULE;
  readonly #relativeDirectory: string;
  readonly #ports: AdapterPorts;
  #settings: Settings;

  private constructor(identity: NodeIdentity, settings: Settings, services: Services) {
    super(identity, services, 'stopped');
    this.#relativeDirectory = nodeDirectory(MODULE, this.id);
    this.#ports = new AdapterPorts({ node: this, rules: PORT_RULES, services, adapters: 'any' });
    this.#settings = settings;
  }

  /** @throws Failure `conflict` (`TraceNGError`) for an invalid IPv4 address */
  static async create(identity: NodeIdentity, body: TracengCreate, services: Services): Promise<TracengNode> {
    const settings = settingsOf({ ipAddress: '', defaultDestination: '' }, body);
    return new TracengNode(identity, settings, services);
  }

  override describe() {
    return {
      ...this.common(),
      node_directory: join(this.project.path, this.#relativeDirectory),
      console: null,
      console_type: 'none',
      command_line: '',
      ip_address: this.#settings.ipAddress,
      default_destination: this.#settings.defaultDestination,
    };
  }

  change(body: TracengUpdate): void {
    this.#settings = settingsOf(this.#settings, body);
    this.name = body.name ?? this.name;
  }

  /** @throws Failure `conflict` (`TraceNGError`), always */
  override async start(): Promise<void> {
    throw conflict(`${this.name} cannot be started: ${UNAVAILABLE}`, { exception });
  }

  override port(adapter: number, port: number): NodePort {
    return this.#ports.port(adapter, port);
  }

  async copyFilesOf(source: TracengNode): Promise<void> {
    await copyFiles(this.project, source.#relativeDirectory, this.#relativeDirectory);
  }

  override close(): Promise<void> {
    return this.#ports.close();
  }
}

function settingsOf(before: Settings, body: TracengUpdate): Settings {
  const { ip_address: ipAddress = before.ipAddress, default_destination: defaultDestination } = body;
  if (ipAddress !== '' && !isIPv4(ipAddress)) {
    const fix = 'give four numbers with dots, such as 192.0.2.1, or nothing';
    throw conflict(`ip_address: "${ipAddress}" is no IPv4 address; ${fix}.`, { exception });
  }
  return { ipAddress, defaultDestination: defaultDestination ?? before.defaultDestination };
}
