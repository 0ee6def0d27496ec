// A hub as a node: its ports are the fabric's, the frames never come here.
import { isDeepStrictEqual } from 'node:util';
import type { MemoryDevice } from '../../../fabric/fabric.ts';
import { Failure } from '../../../failures.ts';
import { Node, type NodeIdentity, noSuchPort } from '../../nodes/node.ts';
import { NodePort, type PortRules } from '../../nodes/port.ts';
import type { Services } from '../../services.ts';
import type { PortsMapping } from './schema.ts';

/** Hubs are a part of Dynamips in the release; clients know its name. */
export const PORT_RULES: PortRules = { exception: 'DynamipsError', nios: new Set(['nio_udp', 'nio_null']) };

const DEFAULT_PORTS = 8;

function portName(number: number): string {
  return `Ethernet${number}`;
}

export function defaultPorts(): PortsMapping {
  return Array.from({ length: DEFAULT_PORTS }, (_, number) => ({ name: portName(number), port_number: number }));
}

export class HubNode extends Node {
  readonly type = 'ethernet_hub';
  private readonly hub: MemoryDevice<'hub'>;
  private mapping: PortsMapping;
  private ports = new Map<number, NodePort>();

  private constructor(identity: NodeIdentity, mapping: PortsMapping, hub: MemoryDevice<'hub'>, services: Services) {
    super(identity, services, 'started');
    this.hub = hub;
    this.mapping = mapping;
  }

  /** @param mapping the ports; taken as it is given */
  static async create(identity: NodeIdentity, mapping: PortsMapping, services: Services): Promise<HubNode> {
    const hub = await services.fabric.createDevice('hub', {}, undefined, identity.project.id);
    return new HubNode(identity, mapping, hub, services);
  }

  override describe(): object {
    return {
      name: this.name,
      node_id: this.id,
      project_id: this.project.id,
      ports_mapping: this.mapping,
      status: this.status,
    };
  }

  /** The adapter does not matter: a hub has one. */
  override port(adapter: number, number: number): NodePort {
    if (!this.mapping.some(({ port_number }) => port_number === number)) {
      throw noSuchPort(this, PORT_RULES.exception, adapter, number);
    }
    const known = this.ports.get(number);
    if (known) return known;
    const device = { kind: 'memory', device: this.hub, number } as const;
    const port = new NodePort(this, `${adapter}/${number}`, PORT_RULES, this.services, device);
    this.ports.set(number, port);
    return port;
  }

  /**
   * Takes new ports, which are numbered and named anew; the ports that are there may always be given again.
   * @throws Failure `conflict` while a NIO is attached
   */
  changePorts(wanted: PortsMapping): void {
    if (isDeepStrictEqual(wanted, this.mapping)) return;
    if ([...this.ports.values()].some((port) => port.hasNio)) {
      const message = `ports_mapping: ${this.name} is connected; remove its links before its ports change.`;
      throw new Failure('conflict', message, { exception: 'NodeError' });
    }
    this.ports.clear();
    this.mapping = wanted.map((_, number) => ({ name: portName(number), port_number: number }));
  }

  override async close(): Promise<void> {
    await Promise.all([...this.ports.values()].map((port) => port.close()));
    this.ports.clear();
    await this.hub.close();
  }
}
