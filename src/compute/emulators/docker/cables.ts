// The interfaces of a running container. A TAP has a carrier while it is open, so it is open while its link exists and
// is not suspended; of a pair the end on this host is up as long.

import { hostEndOf } from '../../../host/network/container-interfaces.ts';
import { keepFromHost } from '../../../host/network/interface-programs.ts';
import { changeLink, findLink } from '../../../host/network/kernel-interfaces.ts';
import type { NodeNetwork } from '../../../host/network/node-network.ts';
import { inNetworkOfAny } from '../../../host/system-calls.ts';
import type { AdapterPorts } from '../../nodes/ports/adapter-ports.ts';
import { followCables, type LivePort } from '../../nodes/ports/live-port.ts';

export class Cables {
  readonly #node: string;
  readonly #ports: AdapterPorts;
  readonly #network: NodeNetwork;
  readonly #offload: () => boolean | undefined;
  /** Pid of the container's first process, by adapter, for open interfaces. */
  readonly #plugged = new Map<number, number>();

  /**
   * @param node identifier of the ports' node
   * @param ports each of them a `LivePort`
   * @param network has the ends of pairs that are not in containers
   * @param offload false if the container's programs get complete frames only
   */
  constructor(node: string, ports: AdapterPorts, network: NodeNetwork, offload: () => boolean | undefined) {
    this.#node = node;
    this.#ports = ports;
    this.#network = network;
    this.#offload = offload;
  }

  /** Opens the interfaces with cables in the container of this first process. */
  async plug(process: number): Promise<void> {
    await Promise.all(this.#ports.all.map((port, adapter) => this.#plugOne(port as LivePort, adapter, process)));
  }

  async unplug(): Promise<void> {
    this.#plugged.clear();
    await Promise.all(this.#ports.all.map((port) => port.setDevice(null)));
  }

  /** See `followCables`. @param running first process of the container, if it runs */
  follow(running: () => number | undefined): void {
    followCables(this.#node, this.#ports, async (adapter, port) => {
      const process = running();
      if (process !== undefined) await this.#plugOne(port, adapter, process);
    });
  }

  async #plugOne(port: LivePort, adapter: number, running: number): Promise<void> {
    const process = port.isUp ? running : undefined;
    // Unchanged interfaces are not reopened: the container would see its cable go and come.
    if (this.#plugged.get(adapter) === process) return;
    this.#plugged.delete(adapter);
    // An interface that is one of a pair has a carrier while the other end is up.
    const link = hostEndOf(running, adapter);
    const network = this.#network.find(link);
    const inNetwork = (task: () => void): void => inNetworkOfAny(network, task);
    const isPair = inNetworkOfAny(network, () => findLink(link)) !== undefined;
    if (process === undefined) {
      if (isPair) inNetwork(() => changeLink(link, { up: false }));
      return await port.setDevice(null);
    }
    if (isPair) {
      inNetwork(() => keepFromHost(link));
      await port.setDevice({ kind: 'packet', interface: link, kernel: true, process: network });
      inNetwork(() => changeLink(link, { up: true }));
    } else {
      const offload = this.#offload();
      await port.setDevice({ kind: 'tap', interface: `eth${adapter}`, create: 'never', process, offload });
    }
    this.#plugged.set(adapter, process);
  }
}
