// The ports of a node with a program: one or more per adapter, created with the node.
import type { Services } from '../../services.ts';
import type { Steps } from '../lifecycle/all-or-nothing.ts';
import { type Node, noSuchPort } from '../node.ts';
import type { MakePort } from './memory-ports.ts';
import { NodePort, type PortRules } from './port.ts';

export interface AdapterPortsOptions {
  node: Node;
  rules: PortRules;
  services: Services;
  /** How many adapters; `any` if every number means the first one. */
  adapters: number | 'any';
  /** Default: 1; then the port number does not matter. */
  portsPerAdapter?: number;
  /** Number of the first adapter. Default: 0. */
  firstAdapter?: () => number;
  /** Creates a specialised port. */
  makePort?: MakePort;
}

export class AdapterPorts {
  readonly #options: AdapterPortsOptions;
  #ports: readonly NodePort[];

  constructor(options: AdapterPortsOptions) {
    this.#options = options;
    this.#ports = this.#make(options.adapters === 'any' ? 1 : options.adapters);
  }

  /** In the order of the adapters and of their ports. */
  get all(): readonly NodePort[] {
    return this.#ports;
  }

  /**
   * The port with these numbers. A number does not matter if there is only one adapter, or one port per adapter.
   * @throws Failure `conflict` if it does not exist
   */
  port(adapter: number, port: number): NodePort {
    const { node, rules, firstAdapter } = this.#options;
    const found = this.#ports[this.#indexOf(adapter - (firstAdapter?.() ?? 0), port)];
    if (found) return found;
    throw noSuchPort(node, rules.exception, adapter, port);
  }

  /** Changes the number of adapters. All NIOs are unplugged, as clients expect. */
  resize(adapters: number, { undo, done }: Steps): void {
    const before = this.#ports;
    undo.defer(() => {
      this.#ports = before;
    });
    done.defer(() => closeAll(before));
    this.#ports = this.#make(adapters);
  }

  /** Unplugs all NIOs and drops the ports. */
  async close(): Promise<void> {
    const ports = this.#ports;
    this.#ports = [];
    await closeAll(ports);
  }

  #indexOf(adapter: number, port: number): number {
    const { adapters, portsPerAdapter = 1 } = this.#options;
    if (adapters === 'any') return port;
    if (portsPerAdapter === 1) return adapter;
    return port < portsPerAdapter ? adapter * portsPerAdapter + port : -1;
  }

  #make(adapters: number): NodePort[] {
    const { node, rules, services, portsPerAdapter = 1 } = this.#options;
    const first = this.#options.firstAdapter?.() ?? 0;
    const { makePort = (...parts) => new NodePort(...parts) } = this.#options;
    return Array.from({ length: adapters * portsPerAdapter }, (_, index) => {
      const label = `${first + Math.floor(index / portsPerAdapter)}/${index % portsPerAdapter}`;
      return makePort(node, label, rules, services);
    });
  }
}

async function closeAll(ports: readonly NodePort[]): Promise<void> {
  await Promise.all(ports.map((port) => port.close()));
}
