// The NAT node: one port through which a lab reaches everything this host reaches, by the host's NAT bridge or our own
// NAT network.

import type { CloudPort } from '../../../api/kinds/cloud.ts';
import { conflict } from '../../../failures.ts';
import { interfaceNames, isAllowedInterface } from '../../../host/network/interfaces.ts';
import { NAT_GROUP } from '../../nat-network/network.ts';
import type { NodeIdentity } from '../../nodes/node.ts';
import type { Services } from '../../services.ts';
import { uplinkSpec } from '../../uplinks/opening.ts';
import { UplinkNode } from '../../uplinks/uplink-node.ts';
import type { Uplink, UplinkSpec } from '../../uplinks/uplink-port.ts';
import { PORT_RULES } from '../../uplinks/uplink-ports.ts';

const { exception } = PORT_RULES;

export class NatNode extends UplinkNode {
  readonly type = 'nat';

  /** @throws Failure `conflict` if this host has neither the bridge nor the requirements of our own network */
  static async create(identity: NodeIdentity, services: Services): Promise<NatNode> {
    const obstacle = await obstacleTo(services);
    if (obstacle !== undefined) throw conflict(obstacle, { exception });
    return new NatNode(identity, services, await services.ports.console.reserve(identity.project.id));
  }

  protected override specOf(number: number): UplinkSpec | undefined {
    return number === 0 ? { group: NAT_GROUP, open: () => this.#open() } : undefined;
  }

  override describe() {
    return {
      ...this.common(),
      ports_mapping: [this.#entry],
    };
  }

  get #entry(): CloudPort {
    const { default_nat_interface } = this.services.config.Server;
    const name = interfaceExists(default_nat_interface) ? default_nat_interface : this.services.natNetwork.interface;
    return { name: 'nat0', port_number: 0, type: 'ethernet', interface: name };
  }

  /** Checked each time: the bridge may have appeared or disappeared since the node's creation. */
  async #open(): Promise<Uplink> {
    const { natNetwork } = this.services;
    const { default_nat_interface: bridge } = this.services.config.Server;
    if (interfaceExists(bridge)) return uplinkSpec(this.#entry, this.services).open();
    const obstacle = await obstacleTo(this.services);
    if (obstacle !== undefined) throw conflict(obstacle);
    return natNetwork.join();
  }
}

/** Why a NAT cannot work on this host, with the fix; undefined if no problem is known. */
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
