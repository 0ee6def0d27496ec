// A NAT as a node: one port, by which a lab reaches what this host reaches, through the host's NAT bridge or through a network of
// our own.
import { Failure } from '../../../failures.ts';
import { interfaceNames, isAllowedInterface } from '../../../host/network/interfaces.ts';
import { NAT_GROUP } from '../../nat-network/network.ts';
import { Node, type NodeIdentity } from '../../nodes/node.ts';
import type { NodePort } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { uplinkSpec } from '../../uplinks/opening.ts';
import type { UplinkPortEntry } from '../../uplinks/ports-mapping.ts';
import type { Uplink } from '../../uplinks/uplink-port.ts';
import { PORT_RULES, UplinkPorts } from '../../uplinks/uplink-ports.ts';

const { exception } = PORT_RULES;

export class NatNode extends Node {
  readonly type = 'nat';
  readonly #ports: UplinkPorts;
  /** Reserved as the release does, so that the ports of the nodes after it are numbered alike; nothing listens. */
  readonly #hiddenPort: number;

  private constructor(identity: NodeIdentity, services: Services, hiddenPort: number) {
    super(identity, services, 'started');
    this.#hiddenPort = hiddenPort;
    this.#ports = new UplinkPorts(this, services, (number) =>
      number === 0 ? { group: NAT_GROUP, open: () => this.#open() } : undefined,
    );
  }

  /** @throws Failure `conflict` when this host has neither the bridge nor what a network of our own needs */
  static async create(identity: NodeIdentity, services: Services): Promise<NatNode> {
    const obstacle = await obstacleTo(services);
    if (obstacle !== undefined) throw new Failure('conflict', obstacle, { exception });
    return new NatNode(identity, services, await services.ports.console.reserve(identity.project.id));
  }

  override describe() {
    return {
      name: this.name,
      node_id: this.id,
      project_id: this.project.id,
      status: this.status,
      ports_mapping: [this.#entry],
    };
  }

  override port(adapter: number, number: number): NodePort {
    return this.#ports.port(adapter, number);
  }

  /** Opens what could not be opened before; the node is on, unless that fails again. */
  override async start(): Promise<void> {
    if (this.status === 'started') return;
    await this.#ports.connect();
    this.status = 'started';
  }

  override async close(): Promise<void> {
    await this.#ports.close();
    this.services.ports.console.release(this.project.id, this.#hiddenPort);
  }

  get #entry(): UplinkPortEntry {
    const { default_nat_interface } = this.services.config.Server;
    const name = interfaceExists(default_nat_interface) ? default_nat_interface : this.services.natNetwork.interface;
    return { name: 'nat0', port_number: 0, type: 'ethernet', interface: name };
  }

  /** Asked again each time: the bridge may have come, or gone, since the node was made. */
  async #open(): Promise<Uplink> {
    const { natNetwork } = this.services;
    const { default_nat_interface: bridge } = this.services.config.Server;
    if (interfaceExists(bridge)) return uplinkSpec(this.#entry, this.services).open();
    const obstacle = await obstacleTo(this.services);
    if (obstacle !== undefined) throw new Failure('conflict', obstacle);
    return natNetwork.join();
  }
}

/** Why a NAT cannot work on this host, and what to do about it; undefined if nothing is known to be in its way. */
async function obstacleTo({ config, natNetwork }: Services): Promise<string | undefined> {
  const { default_nat_interface: bridge, nat_network, allowed_interfaces } = config.Server;
  if (interfaceExists(bridge)) {
    if (isAllowedInterface(bridge, allowed_interfaces)) return undefined;
    return `default_nat_interface: ${bridge} is not among allowed_interfaces; add it there, or set another one.`;
  }
  const missing = `default_nat_interface: there is no interface ${bridge} on this host`;
  if (nat_network === 'off') return `${missing}, and nat_network is off; make it, or set nat_network = automatic.`;
  if (!isAllowedInterface(natNetwork.interface, allowed_interfaces)) {
    return `${missing}, and ${natNetwork.interface} is not among allowed_interfaces; add it there.`;
  }
  const obstacle = await natNetwork.obstacle();
  return obstacle && `${missing}, and Labwire cannot make a NAT network of its own. ${obstacle}`;
}

function interfaceExists(name: string): boolean {
  return interfaceNames([]).includes(name);
}
