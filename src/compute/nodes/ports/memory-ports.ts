// The ports, by number, of a node that is a device in the fabric's memory.
import type { DeviceKind, MemoryDevice } from '../../../fabric/fabric.ts';
import type { Services } from '../../services.ts';
import { type Node, noSuchPort } from '../node.ts';
import { NodePort, type PortRules } from './port.ts';

const HIGHEST_NUMBER = 65_535;

/** Creates a specialised port. */
export type MakePort = (...parts: ConstructorParameters<typeof NodePort>) => NodePort;

export class MemoryPorts {
  readonly #node: Node;
  readonly #rules: PortRules;
  readonly #services: Services;
  readonly #device: MemoryDevice<DeviceKind>;
  readonly #make: MakePort;
  readonly #ports = new Map<number, NodePort>();

  constructor(
    node: Node,
    rules: PortRules,
    services: Services,
    device: MemoryDevice<DeviceKind>,
    make: MakePort = (...parts) => new NodePort(...parts),
  ) {
    this.#node = node;
    this.#rules = rules;
    this.#services = services;
    this.#device = device;
    this.#make = make;
  }

  /**
   * The port with this number, created on first use. The adapter does not matter: such a node has only one.
   * @throws Failure `conflict` for a number beyond 65,535
   */
  port(adapter: number, number: number): NodePort {
    if (number > HIGHEST_NUMBER) throw noSuchPort(this.#node, this.#rules.exception, adapter, number);
    const known = this.#ports.get(number);
    if (known) return known;
    const device = { kind: 'memory', device: this.#device, number } as const;
    const port = this.#make(this.#node, `${adapter}/${number}`, this.#rules, this.#services, device);
    this.#ports.set(number, port);
    return port;
  }

  /** The port with this number, if it was ever used. */
  known(number: number): NodePort | undefined {
    return this.#ports.get(number);
  }

  /** Numbers of the ports that have a NIO, in order. */
  get connected(): number[] {
    const numbers = [...this.#ports].filter(([, port]) => port.hasNio).map(([number]) => number);
    return numbers.sort((one, other) => one - other);
  }

  /** Unplugs all NIOs and drops the ports. */
  async close(): Promise<void> {
    const ports = [...this.#ports.values()];
    this.#ports.clear();
    await Promise.all(ports.map((port) => port.close()));
  }
}
