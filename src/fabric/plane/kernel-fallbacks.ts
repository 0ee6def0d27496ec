// Nodes' interfaces that the kernel has refused to forward for: packet sockets serve them, and the kernel is tried again.

import type { PacketAddress } from '../model.ts';
import { type InterfaceParts, PacketEndpoint } from './interface-endpoint.ts';
import { Timer, type Timers } from './timers.ts';

/** Pauses (ms) after a success, and after failures, where they double up to the last one. Frames wait for an attempt. */
const PAUSES = { success: 100, first: 1_000, last: 30_000 };

export class FallbackEndpoint extends PacketEndpoint {
  /** Why the kernel does not forward. */
  reason: string;
  readonly #closed: (endpoint: FallbackEndpoint) => void;

  constructor(address: PacketAddress, parts: InterfaceParts, reason: string, fallbacks: KernelFallbacks) {
    super(address, parts);
    this.reason = reason;
    this.#closed = () => fallbacks.delete(this);
  }

  /** Forwards what waits. */
  drain(): void {
    this.receiveAll();
  }

  override close(): void {
    this.#closed(this);
    super.close();
  }
}

/** Replaces the endpoint by one that the kernel forwards for; otherwise returns why it cannot. */
type Attempt = () => string | undefined;

export class KernelFallbacks {
  readonly #attempts = new Map<FallbackEndpoint, Attempt>();
  readonly #timer: Timer;
  #pause = PAUSES.first;

  constructor(timers: Timers) {
    this.#timer = new Timer(timers, () => this.#retry());
  }

  add(endpoint: FallbackEndpoint, attempt: Attempt): void {
    if (this.#attempts.size === 0) this.#pause = PAUSES.first;
    this.#attempts.set(endpoint, attempt);
    if (!this.#timer.running) this.#timer.start(this.#pause);
  }

  delete(endpoint: FallbackEndpoint): void {
    this.#attempts.delete(endpoint);
  }

  #retry(): void {
    const [next] = Array.from(this.#attempts).filter(([{ state }]) => state === 'open');
    const isForwarded = next !== undefined && this.#succeeds(...next);
    this.#pause = isForwarded ? PAUSES.first : Math.min(2 * this.#pause, PAUSES.last);
    if (this.#attempts.size > 0) this.#timer.start(isForwarded ? PAUSES.success : this.#pause);
  }

  #succeeds(endpoint: FallbackEndpoint, attempt: Attempt): boolean {
    const reason = attempt();
    if (reason === undefined) return true;
    endpoint.reason = reason;
    // The next attempt is another one's.
    this.#attempts.delete(endpoint);
    this.#attempts.set(endpoint, attempt);
    return false;
  }
}
