// A cloud as a node: its ports lead out of the lab, to interfaces of this host and to UDP tunnels.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../../failures.ts';
import { interfaceNames, interfaceType, isSpecialInterface } from '../../../host/network/interfaces.ts';
import { Node, type NodeIdentity, nodeDirectory } from '../../nodes/node.ts';
import type { NodePort } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { uplinkSpec } from '../../uplinks/opening.ts';
import type { UplinkPortsMapping } from '../../uplinks/ports-mapping.ts';
import { PORT_RULES, UplinkPorts } from '../../uplinks/uplink-ports.ts';
import type { CloudCreate, CloudUpdate } from './schema.ts';

export const MODULE = 'builtin';

type RemoteConsole = Required<
  Pick<CloudCreate, 'remote_console_host' | 'remote_console_port' | 'remote_console_type' | 'remote_console_http_path'>
>;

interface HostInterface {
  name: string;
  type: 'ethernet' | 'tap';
  special: boolean;
}

export class CloudNode extends Node {
  readonly type = 'cloud';
  readonly #ports: UplinkPorts;
  #remoteConsole: RemoteConsole;
  #mapping: UplinkPortsMapping;
  /** Reserved as the release does, so that the ports of the nodes after it are numbered alike; nothing listens. */
  readonly #hiddenPort: number;
  /** UDP ports of tunnels that were free, so that no cable gets them. */
  #claimed: number[] = [];

  private constructor(identity: NodeIdentity, body: CloudCreate, services: Services, hiddenPort: number) {
    super(identity, services, 'started');
    this.#hiddenPort = hiddenPort;
    this.#remoteConsole = {
      remote_console_host: body.remote_console_host ?? '',
      remote_console_port: body.remote_console_port === undefined ? 23 : body.remote_console_port,
      remote_console_type: body.remote_console_type ?? 'none',
      remote_console_http_path: body.remote_console_http_path ?? '/',
    };
    this.#mapping = this.#numbered(body.ports_mapping ?? []);
    this.#ports = new UplinkPorts(this, services, (number) => {
      const entry = this.#mapping[number];
      return entry && uplinkSpec(entry, services);
    });
  }

  static async create(identity: NodeIdentity, body: CloudCreate, services: Services): Promise<CloudNode> {
    const hiddenPort = await services.ports.console.reserve(identity.project.id);
    const node = new CloudNode(identity, body, services, hiddenPort);
    await node.#claimTunnels();
    return node;
  }

  override describe() {
    return {
      name: this.name,
      node_id: this.id,
      project_id: this.project.id,
      ...this.#remoteConsole,
      ports_mapping: this.#mapping,
      interfaces: this.#interfaces(),
      status: this.status,
      node_directory: join(this.project.path, nodeDirectory(MODULE, this.id)),
    };
  }

  override port(adapter: number, number: number): NodePort {
    return this.#ports.port(adapter, number);
  }

  /** @throws Failure `conflict` when the ports change while a NIO is attached */
  async change({ name, ports_mapping, ...body }: CloudUpdate): Promise<void> {
    if (ports_mapping !== undefined) await this.#changePorts(this.#numbered(ports_mapping));
    this.name = name ?? this.name;
    for (const member of Object.keys(this.#remoteConsole) as (keyof RemoteConsole)[]) {
      if (body[member] !== undefined) this.#remoteConsole = { ...this.#remoteConsole, [member]: body[member] };
    }
  }

  /** Opens what could not be opened before; the node is on, unless that fails again. */
  override async start(): Promise<void> {
    if (this.status === 'started') return;
    await this.#ports.connect();
    this.status = 'started';
  }

  override async close(): Promise<void> {
    await this.#ports.close();
    this.#releaseTunnels();
    this.services.ports.console.release(this.project.id, this.#hiddenPort);
  }

  async #changePorts(wanted: UplinkPortsMapping): Promise<void> {
    if (isDeepStrictEqual(wanted, this.#mapping)) return;
    if (this.#ports.connected) {
      const message = `ports_mapping: ${this.name} is connected; remove its links before its ports change.`;
      throw new Failure('conflict', message, { exception: PORT_RULES.exception });
    }
    await this.#ports.close();
    this.#releaseTunnels();
    this.#mapping = wanted;
    await this.#claimTunnels();
  }

  /** A port that somebody has already may have been reserved for this very tunnel: its NIO will tell. */
  async #claimTunnels(): Promise<void> {
    for (const entry of this.#mapping) {
      if (entry.type !== 'udp' || !(await this.services.ports.udp.claim(this.project.id, entry.lport))) continue;
      this.#claimed.push(entry.lport);
    }
  }

  #releaseTunnels(): void {
    for (const port of this.#claimed.splice(0)) this.services.ports.udp.release(this.project.id, port);
  }

  /** The ports with their place in the list as their number; without any, one for each interface that is not special. */
  #numbered(mapping: UplinkPortsMapping): UplinkPortsMapping {
    const given = mapping.length > 0 ? mapping : this.#interfacePorts();
    return given.map((entry, port_number) => ({ ...entry, port_number }));
  }

  #interfacePorts(): UplinkPortsMapping {
    return this.#interfaces()
      .filter(({ special }) => !special)
      .map(({ name, type }) => ({ name, port_number: 0, type, interface: name }));
  }

  #interfaces(): HostInterface[] {
    return interfaceNames(this.services.config.Server.allowed_interfaces).map((name) => ({
      name,
      type: interfaceType(name),
      special: isSpecialInterface(name),
    }));
  }
}
