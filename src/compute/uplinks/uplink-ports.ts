// The ports of a cloud or a NAT. Failures of their uplinks are reported in an event, because the NIOs are accepted all
// the same.
import { conflict, messageOf } from '../../failures.ts';
import { type Node, noSuchPort } from '../nodes/node.ts';
import type { PortRules } from '../nodes/ports/port.ts';
import type { Services } from '../services.ts';
import { UplinkPort, type UplinkSpec } from './uplink-port.ts';

export const PORT_RULES: PortRules = { exception: 'NodeError', nios: new Set(['nio_udp']) };

export class UplinkPorts {
  readonly #node: Node;
  readonly #services: Services;
  /** The uplink of a port; undefined if the node has no port of this number. */
  readonly #specOf: (number: number) => UplinkSpec | undefined;
  readonly #ports = new Map<number, UplinkPort>();

  constructor(node: Node, services: Services, specOf: (number: number) => UplinkSpec | undefined) {
    this.#node = node;
    this.#services = services;
    this.#specOf = specOf;
  }

  /** The adapter does not matter: a cloud has only one. */
  port(adapter: number, number: number): UplinkPort {
    const known = this.#ports.get(number);
    if (known) return known;
    const spec = this.#specOf(number);
    if (spec === undefined) throw noSuchPort(this.#node, PORT_RULES.exception, adapter, number);
    const failed = (reason: unknown): void => this.#failed(number, reason);
    const port = new UplinkPort(this.#node, `0/${number}`, PORT_RULES, this.#services, spec, failed);
    this.#ports.set(number, port);
    return port;
  }

  get connected(): boolean {
    return [...this.#ports.values()].some((port) => port.hasNio);
  }

  /**
   * Opens all uplinks that are not open.
   * @throws Failure `conflict` with the reasons of all failures
   */
  async connect(): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#ports.values()].map((port) => port.connect()));
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [messageOf(outcome.reason)] : []));
    if (reasons.length === 0) return;
    throw conflict(`${this.#node.name} cannot be started: ${[...new Set(reasons)].join(' ')}`, {
      exception: PORT_RULES.exception,
    });
  }

  async close(): Promise<void> {
    const ports = [...this.#ports.values()];
    this.#ports.clear();
    await Promise.all(ports.map((port) => port.close()));
  }

  #failed(number: number, reason: unknown): void {
    const message = `Port ${number} of ${this.#node.name} leads nowhere: ${messageOf(reason)}`;
    this.#services.events.emit('log.error', { message }, this.#node.project.id);
    this.#node.status = 'stopped';
  }
}
