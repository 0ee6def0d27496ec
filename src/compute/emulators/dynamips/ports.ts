// The ports of a router: as many as its cards have. A cable is connected to the emulator directly, by a pair of UDP
// ports of loopback.

import type { Nio } from '../../../api/routes/compute-nodes.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { type Node, noSuchPort } from '../../nodes/node.ts';
import { NodePort, type PortRules } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { hasPort } from './cards.ts';
import { LOOPBACK } from './process.ts';
import type { RouterRuntime } from './runtime.ts';

/** Disconnecting a cable takes milliseconds; an emulator that takes longer hangs. */
const LEAVE_MS = 15_000;

export type Cards = Parameters<typeof hasPort>[0];

export class RouterPort extends NodePort {
  readonly slot: number;
  readonly number: number;
  readonly #node: Node;
  readonly #services: Services;
  readonly #running: () => RouterRuntime | undefined;
  /** UDP ports of the emulator and of the cable's end, while they are connected. */
  #joined: { programPort: number; cablePort: number } | undefined;

  constructor(
    node: Node,
    { slot, number }: { slot: number; number: number },
    rules: PortRules,
    services: Services,
    running: () => RouterRuntime | undefined,
  ) {
    super(node, `${slot}/${number}`, rules, services);
    this.slot = slot;
    this.number = number;
    this.#node = node;
    this.#services = services;
    this.#running = running;
  }

  override async attach(wanted: Nio): Promise<void> {
    await super.attach(wanted);
    const runtime = this.#running();
    if (!runtime) return;
    try {
      await this.join(runtime);
      await runtime.vm('slot_enable_nio', this.slot, this.number);
    } catch (error) {
      await this.#leave(runtime);
      await super.detach();
      throw error;
    }
  }

  override async detach(): Promise<void> {
    await super.detach();
    const runtime = this.#running();
    if (runtime) await this.#leave(runtime);
  }

  /** For a removed card: unplugs the NIO, if any, for good. */
  override async close(): Promise<void> {
    await super.close();
    const runtime = this.#running();
    if (runtime) await this.#leave(runtime);
  }

  /** Connects the plugged cable to the router. @throws Failure `conflict` (`DynamipsError`) */
  async join(runtime: RouterRuntime): Promise<void> {
    const { udp } = this.#services.ports;
    const owner = this.#node.project.id;
    await using undo = new AsyncDisposableStack();
    const reserve = async (): Promise<number> => {
      const port = await udp.reserve(owner);
      undo.defer(() => udp.release(owner, port));
      return port;
    };
    const programPort = await reserve();
    const cablePort = await reserve();
    await this.setDevice({ kind: 'udp', localPort: cablePort, remoteHost: LOOPBACK, remotePort: programPort });
    undo.defer(() => this.setDevice(null));
    const { hypervisor } = runtime;
    await hypervisor.run('nio create_udp', [this.#nio, programPort, LOOPBACK, cablePort]);
    undo.defer(async () => void (await hypervisor.attempt('nio delete', [this.#nio]).catch(() => undefined)));
    await runtime.vm('slot_add_nio_binding', this.slot, this.number, this.#nio);
    undo.move();
    this.#joined = { programPort, cablePort };
  }

  /** The router was switched off: releases the remaining reservations. */
  async forget(): Promise<void> {
    const joined = this.#joined;
    this.#joined = undefined;
    if (!joined) return;
    await this.setDevice(null);
    const { udp } = this.#services.ports;
    for (const port of [joined.programPort, joined.cablePort]) udp.release(this.#node.project.id, port);
  }

  get #nio(): string {
    return nioName(this.slot, this.number);
  }

  /** Disconnects the cable's end from the router. A hanging router keeps it, with its UDP ports, until it has ended. */
  async #leave(runtime: RouterRuntime): Promise<void> {
    if (!this.#joined) return;
    try {
      await removeNio(runtime, this.slot, this.number);
    } catch (error) {
      log.warn('a router does not let go of a cable', { node: this.#node.id, reason: messageOf(error) });
      return;
    }
    await this.forget();
  }
}

export class RouterPorts {
  readonly #node: Node;
  readonly #rules: PortRules;
  readonly #services: Services;
  readonly #running: () => RouterRuntime | undefined;
  /** Ports ever used, by slot and number. */
  readonly #ports = new Map<string, RouterPort>();

  constructor(node: Node, rules: PortRules, services: Services, running: () => RouterRuntime | undefined) {
    this.#node = node;
    this.#rules = rules;
    this.#services = services;
    this.#running = running;
  }

  /** @throws Failure `conflict` if no card has it */
  port(cards: Cards, slot: number, number: number): RouterPort {
    const key = `${slot}/${number}`;
    const known = this.#ports.get(key);
    if (known) return known;
    if (!hasPort(cards, slot, number)) throw noSuchPort(this.#node, this.#rules.exception, slot, number);
    const port = new RouterPort(this.#node, { slot, number }, this.#rules, this.#services, this.#running);
    this.#ports.set(key, port);
    return port;
  }

  /** Connects all cables to a router that is about to be switched on, or runs already. */
  async join(runtime: RouterRuntime): Promise<void> {
    for (const port of this.#ports.values()) if (port.hasNio) await port.join(runtime);
  }

  /** The router was switched off. */
  async forget(): Promise<void> {
    await Promise.all([...this.#ports.values()].map((port) => port.forget()));
  }

  /** Unplugs the NIOs of removed cards. */
  async closeAllBut(cards: Cards): Promise<void> {
    const gone = [...this.#ports].filter(([, { slot, number }]) => !hasPort(cards, slot, number));
    for (const [key, port] of gone) {
      this.#ports.delete(key);
      await port.close();
    }
  }

  async close(): Promise<void> {
    const ports = [...this.#ports.values()];
    this.#ports.clear();
    await Promise.all(ports.map((port) => port.close()));
  }
}

/** Removes connections of the previous run of the server: cables are connected again with other UDP ports. */
export async function leaveAll(runtime: RouterRuntime): Promise<void> {
  const { lines } = await runtime.hypervisor.run('nio list');
  for (const line of lines) {
    const [, slot, number] = /^cable_(\d+)_(\d+)/.exec(line.trim()) ?? [];
    if (slot !== undefined && number !== undefined) await removeNio(runtime, Number(slot), Number(number));
  }
}

function nioName(slot: number, number: number): string {
  return `cable_${slot}_${number}`;
}

async function removeNio(runtime: RouterRuntime, slot: number, number: number): Promise<void> {
  const { hypervisor, kept } = runtime;
  if (runtime.ended) return;
  await hypervisor.attempt('vm slot_disable_nio', [kept.vm_name, slot, number], LEAVE_MS);
  await hypervisor.attempt('vm slot_remove_nio_binding', [kept.vm_name, slot, number], LEAVE_MS);
  await hypervisor.attempt('nio delete', [nioName(slot, number)], LEAVE_MS);
}
