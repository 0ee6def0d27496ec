// The hub node. Its ports are in the fabric; frames never pass here.

import { isDeepStrictEqual } from 'node:util';
import type { HubPort } from '../../../api/kinds/ethernet-switches.ts';
import type { MemoryDevice } from '../../../fabric/fabric.ts';
import { Node, type NodeIdentity, noSuchPort } from '../../nodes/node.ts';
import { MemoryPorts } from '../../nodes/ports/memory-ports.ts';
import { SWITCH_NIOS } from '../../nodes/ports/nio.ts';
import type { NodePort, PortRules } from '../../nodes/ports/port.ts';
import { numbered, stillConnected } from '../../nodes/ports/ports-mapping.ts';
import type { Services } from '../../services.ts';

/** Hubs are part of Dynamips in the release; clients recognise its name. */
export const PORT_RULES: PortRules = { exception: 'DynamipsError', nios: SWITCH_NIOS };

export class HubNode extends Node {
  readonly type = 'ethernet_hub';
  readonly #hub: MemoryDevice<'hub'>;
  readonly #ports: MemoryPorts;
  #mapping: HubPort[];

  private constructor(identity: NodeIdentity, mapping: HubPort[], hub: MemoryDevice<'hub'>, services: Services) {
    super(identity, services, 'started');
    this.#hub = hub;
    this.#ports = new MemoryPorts(this, PORT_RULES, services, hub);
    this.#mapping = mapping;
  }

  /** @param mapping the ports, taken unchanged */
  static async create(identity: NodeIdentity, mapping: HubPort[], services: Services): Promise<HubNode> {
    const hub = await services.fabric.createDevice('hub', {}, undefined, identity.project.id);
    return new HubNode(identity, mapping, hub, services);
  }

  override describe() {
    return {
      ...this.common(),
      ports_mapping: this.#mapping,
    };
  }

  /** The adapter does not matter: a hub has only one. */
  override port(adapter: number, number: number): NodePort {
    if (!this.#mapping.some(({ port_number }) => port_number === number)) {
      throw noSuchPort(this, PORT_RULES.exception, adapter, number);
    }
    return this.#ports.port(adapter, number);
  }

  /**
   * Sets new ports, renumbered and renamed. Repeating the present ports is always allowed.
   * @throws Failure `conflict` while a NIO is attached
   */
  changePorts(wanted: HubPort[]): void {
    if (isDeepStrictEqual(wanted, this.#mapping)) return;
    if (this.#ports.connected.length > 0) throw stillConnected(this.name);
    this.#mapping = numbered(wanted);
  }

  override async close(): Promise<void> {
    await this.#ports.close();
    await this.#hub.close();
  }
}
