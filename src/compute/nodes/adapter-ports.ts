// The ports of a node with a program: one at each adapter, made when the node is.
import type { Services } from '../services.ts';
import type { MakePort } from './memory-ports.ts';
import { type Node, noSuchPort } from './node.ts';
import { NodePort, type PortRules } from './port.ts';

export interface AdapterPortsOptions {
  node: Node;
  rules: PortRules;
  services: Services;
  /** How many adapters; `any` when every number means the first one. */
  adapters: number | 'any';
  /** Makes a port that has to do more than others. */
  makePort?: MakePort;
}

export class AdapterPorts {
  readonly #options: AdapterPortsOptions;
  readonly #ports: NodePort[] = [];

  constructor(options: AdapterPortsOptions) {
    this.#options = options;
    this.#grow(options.adapters === 'any' ? 1 : options.adapters);
  }

  /** In the order of the adapters. */
  get all(): readonly NodePort[] {
    return this.#ports;
  }

  /**
   * The port at the adapter, whose number does not matter; of a node that has one adapter, the port with the number.
   * @throws Failure `conflict` when there is none
   */
  port(adapter: number, port: number): NodePort {
    const { node, rules, adapters } = this.#options;
    const found = this.#ports[adapters === 'any' ? port : adapter];
    if (found) return found;
    throw noSuchPort(node, rules.exception, adapter, port);
  }

  /** Changes how many there are; what was plugged in anywhere is unplugged, as clients know it. */
  async resize(adapters: number): Promise<void> {
    await this.close();
    this.#grow(adapters);
  }

  /** Unplugs what there is and forgets the ports. */
  async close(): Promise<void> {
    await Promise.all(this.#ports.splice(0).map((port) => port.close()));
  }

  #grow(adapters: number): void {
    const { node, rules, services, makePort = (...parts) => new NodePort(...parts) } = this.#options;
    for (let adapter = 0; adapter < adapters; adapter += 1) {
      this.#ports.push(makePort(node, `${adapter}/0`, rules, services));
    }
  }
}
