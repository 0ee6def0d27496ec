// Interfaces of links to other hosts, in the network namespace of nodes' interfaces: to the rest of the server each is as
// a node's interface. Frames go by one VXLAN interface, whose UDP port is in the host's network. All of it outlives the
// server, and plain links with it.

import { messageOf } from '../../failures.ts';
import { log } from '../log.ts';
import { BpfMap, inNetworkOf, openMapsOf } from '../system-calls.ts';
import { attachProgram, keepFromHost, programAt } from './interface-programs.ts';
import { VXLAN_NAME } from './interfaces.ts';
import { parseAddress } from './ipv4.ts';
import { changeLink, disableIpv6, findLink, getLink, makeBridge, makeVxlan, removeLink } from './kernel-interfaces.ts';
import type { NodeNetwork } from './node-network.ts';
import { arrivalProgram, departureProgram, encodeTunnel, TUNNEL_BYTES } from './vxlan-programs.ts';

const MOST_TUNNELS = 1 << 14;
/** Name of the map of tunnels, by which the next server finds it. */
const MAP = 'tunnels';
const PROGRAM = { title: 'labwire vxlan', label: 'labwire_vxlan' };
/** Nodes may use any MTU: packets that do not fit go in fragments. */
const MTU_BYTES = 65_521;

export class VxlanLinks {
  readonly #network: NodeNetwork;
  readonly #wanted: number;
  /** Interfaces that this process has made or taken over. */
  readonly #names = new Set<string>();
  #opened: { keeper: number; tunnels: BpfMap; index: number } | 'not yet' | 'unavailable' = 'not yet';

  /** @param port the UDP port; 0 for none */
  constructor(network: NodeNetwork, port: number) {
    this.#network = network;
    this.#wanted = port;
  }

  /** The UDP port by which links of other hosts may come; undefined for none. */
  get port(): number | undefined {
    return this.#open() === undefined ? undefined : this.#wanted;
  }

  /**
   * Makes the interface of a link, or takes over the one that an earlier server has left. Returns the process whose
   * network namespace has it; undefined if this host has no VXLAN.
   * @param owner a note at the interface, without digits at its end
   * @throws Failure `conflict` when the kernel refuses
   */
  add(name: string, owner: string, { vni, host }: { vni: number; host: string }): number | undefined {
    const opened = this.#open();
    const address = parseAddress(host);
    if (opened === undefined || address === undefined) return undefined;
    const { keeper, tunnels, index } = opened;
    const left = inNetworkOf(keeper, () => findLink(name));
    if (left === undefined) makeBridge(name, keeper);
    else this.#forget(left.alias, vni);
    try {
      inNetworkOf(keeper, () => {
        const instructions = departureProgram({ vni, address }, index);
        attachProgram(name, { ...PROGRAM, instructions, hook: 'egress' });
        keepFromHost(name);
        changeLink(name, { alias: `${owner} ${vni}`, mtu: MTU_BYTES, up: true });
        tunnels.set(vni, encodeTunnel(address, getLink(name).index));
      });
    } catch (error) {
      this.remove(name);
      throw error;
    }
    this.#names.add(name);
    return keeper;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  remove(name: string): void {
    this.#names.delete(name);
    const opened = this.#open();
    if (opened === undefined) return;
    const left = inNetworkOf(opened.keeper, () => findLink(name));
    if (left === undefined) return;
    this.#forget(left.alias);
    inNetworkOf(opened.keeper, () => removeLink(name));
  }

  /** Lets no more frames in by the number of a link that an interface had. */
  #forget(alias: string, present?: number): void {
    const former = Number(alias.split(' ').at(-1) || Number.NaN);
    const opened = this.#open();
    if (Number.isInteger(former) && former !== present) opened?.tunnels.delete(former);
  }

  #open() {
    if (this.#wanted === 0 || this.#opened === 'unavailable') return undefined;
    if (this.#opened === 'not yet') {
      try {
        this.#opened = this.#openVxlan() ?? 'unavailable';
      } catch (error) {
        this.#opened = 'unavailable';
        log.warn('links to other hosts do not use VXLAN', { reason: messageOf(error) });
      }
    }
    return this.#opened === 'unavailable' ? undefined : this.#opened;
  }

  #openVxlan() {
    const keeper = this.#network.open();
    if (keeper === undefined) return undefined;
    const port = `port ${this.#wanted}`;
    const left = inNetworkOf(keeper, () => {
      const link = findLink(VXLAN_NAME);
      const program = link?.alias === port ? programAt(VXLAN_NAME) : undefined;
      if (link !== undefined && program === undefined) removeLink(VXLAN_NAME);
      return program && openMapsOf(program.id).get(MAP);
    });
    const tunnels = left ?? BpfMap.create(MAP, 'hash', TUNNEL_BYTES, MOST_TUNNELS);
    if (left === undefined) makeVxlan(VXLAN_NAME, this.#wanted, keeper);
    return inNetworkOf(keeper, () => {
      attachProgram(VXLAN_NAME, { ...PROGRAM, instructions: arrivalProgram(tunnels.descriptor) });
      disableIpv6(VXLAN_NAME);
      changeLink(VXLAN_NAME, { alias: port, mtu: MTU_BYTES, up: true });
      return { keeper, tunnels, index: getLink(VXLAN_NAME).index };
    });
  }
}
