// The base class of clouds and NATs: nodes that are always on and whose ports lead out of the lab.
import { Node, type NodeIdentity } from '../nodes/node.ts';
import type { NodePort } from '../nodes/ports/port.ts';
import type { Services } from '../services.ts';
import type { UplinkSpec } from './uplink-port.ts';
import { UplinkPorts } from './uplink-ports.ts';

export abstract class UplinkNode extends Node {
  protected readonly ports: UplinkPorts;
  /** Reserved as the release does, so that later nodes get the same port numbers; nothing listens on it. */
  readonly #hiddenPort: number;

  constructor(identity: NodeIdentity, services: Services, hiddenPort: number) {
    super(identity, services, 'started');
    this.#hiddenPort = hiddenPort;
    this.ports = new UplinkPorts(this, services, (number) => this.specOf(number));
  }

  /** The uplink of a port; undefined if the node has no port of this number. */
  protected abstract specOf(number: number): UplinkSpec | undefined;

  override port(adapter: number, number: number): NodePort {
    return this.ports.port(adapter, number);
  }

  /** Opens uplinks that could not be opened before. The node is on, unless that fails again. */
  override async start(): Promise<void> {
    if (this.status === 'started') return;
    await this.ports.connect();
    this.status = 'started';
  }

  override async close(): Promise<void> {
    await this.ports.close();
    this.services.ports.console.release(this.project.id, this.#hiddenPort);
  }
}
