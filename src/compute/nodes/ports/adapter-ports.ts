// The ports of a node with a program: one or more at each adapter, made when the node is.
import type { Services } from '../../services.ts';
import { type Node, noSuchPort } from '../node.ts';
import type { MakePort } from './memory-ports.ts';
import { NodePort, type PortRules } from './port.ts';

export interface AdapterPortsOptions {
  node: Node;
  rules: PortRules;
  services: Services;
  /** How many adapters; `any` when every number means the first one. */
  adapters: number | 'any';
  /** 1 when not given: the number of the port does not matter then. */
  portsPerAdapter?: number;
  /** Number of the first adapter; 0 when not given. */
  firstAdapter?: () => number;
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

  /** In the order of the adapters and of their ports. */
  get all(): readonly NodePort[] {
    return this.#ports;
  }

  /**
   * The port with these numbers; one of them does not matter, where there is one adapter or one port at each.
   * @throws Failure `conflict` when there is none
   */
  port(adapter: number, port: number): NodePort {
    const { node, rules, firstAdapter } = this.#options;
    const found = this.#ports[this.#indexOf(adapter - (firstAdapter?.() ?? 0), port)];
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

  #indexOf(adapter: number, port: number): number {
    const { adapters, portsPerAdapter = 1 } = this.#options;
    if (adapters === 'any') return port;
    if (portsPerAdapter === 1) return adapter;
    return port < portsPerAdapter ? adapter * portsPerAdapter + port : -1;
  }

  #grow(adapters: number): void {
    const { node, rules, services, portsPerAdapter = 1 } = this.#options;
    const first = this.#options.firstAdapter?.() ?? 0;
    const { makePort = (...parts) => new NodePort(...parts) } = this.#options;
    for (let index = 0; index < adapters * portsPerAdapter; index += 1) {
      const label = `${first + Math.floor(index / portsPerAdapter)}/${index % portsPerAdapter}`;
      this.#ports.push(makePort(node, label, rules, services));
    }
  }
}
