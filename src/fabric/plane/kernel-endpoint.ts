// A node's interface whose frames the kernel may forward. Frames for the fabric come by a TAP of the fabric's own, the
// relay, which the programs at both interfaces join to the node's interface.

import { randomBytes } from 'node:crypto';
import { Failure } from '../../failures.ts';
import { keepFromHost } from '../../host/network/interface-programs.ts';
import type { Relay } from '../../host/network/interface-removals.ts';
import { relayName } from '../../host/network/interfaces.ts';
import { changeLink, droppedBy, findLink, getLink, MOST_MTU_BYTES } from '../../host/network/kernel-interfaces.ts';
import { hasOffload, networkNamespace, SystemError } from '../../host/system-calls.ts';
import type { PacketAddress } from '../model.ts';
import { type InterfaceParts, TapEndpoint } from './interface-endpoint.ts';
import type { KernelEnd, KernelLinks, KernelPort } from './kernel-links.ts';

/** Frames that wait for this thread: about as many small ones as in a packet socket's buffer. */
const QUEUE_FRAMES = 4096;

export class KernelEndpoint extends TapEndpoint implements KernelEnd {
  nodeIndex = 0;
  relayIndex = 0;
  #namespace = 0n;
  readonly #links: KernelLinks;
  readonly #node: string;
  readonly #port: KernelPort;
  /** Frames that were dropped as the relay's queue was full. */
  #dropped = 0;
  /** Whether frames in the relay may be older than some that the kernel has forwarded. */
  #mayBeLate = false;
  #beforeFirst: (() => void) | undefined;

  /** @param beforeFirst called when the next frame of the node will come here */
  constructor(
    { interface: node, process }: PacketAddress,
    port: KernelPort,
    links: KernelLinks,
    parts: InterfaceParts,
    beforeFirst?: () => void,
  ) {
    const relay = relayName(randomBytes(4).toString('hex'));
    super({ interface: relay, create: 'always', persistent: false, process }, parts);
    this.#node = node;
    this.#port = port;
    this.#links = links;
    this.#beforeFirst = beforeFirst;
  }

  /** Forwards what waits in the relay when the kernel takes over, so that hardly any frame is overtaken. */
  drain(when: 'before' | 'after'): void {
    this.receiveAll();
    this.#mayBeLate = when === 'before';
  }

  handsIn(): boolean {
    return this.#unlessGone(() => findLink(this.#node)?.leadsElsewhere === true && hasOffload(this.#node), false);
  }

  protected override failedToReceive(errno: number): void {
    if (!this.#links.forwards(this)) this.#mayBeLate = false;
    super.failedToReceive(errno);
  }

  override countOverflow(): void {
    const dropped = this.#unlessGone(() => droppedBy(this.relayIndex), this.#dropped);
    this.parts.drops.receiveQueue += Math.max(0, dropped - this.#dropped);
    this.#dropped = dropped;
  }

  override close(): void {
    this.#leave();
    super.close();
  }

  protected override openDescriptor(): number {
    const tap = super.openDescriptor();
    try {
      this.#dropped = 0;
      this.there(() => {
        this.#namespace = networkNamespace();
        this.relayIndex = getLink(this.interface).index;
        changeLink(this.interface, { mtu: MOST_MTU_BYTES, queueFrames: QUEUE_FRAMES });
        this.#links.add(this, this.#port, this.#node, this.interface);
      });
      this.#beforeFirst?.();
      this.#beforeFirst = undefined;
      this.there(() => changeLink(this.interface, { up: true }));
      return tap;
    } catch (error) {
      this.#leave();
      this.closeDescriptor(tap);
      throw error;
    }
  }

  protected override opened(): void {
    this.parts.plane.own(this.#relay(this.descriptor));
  }

  /** Nothing depends on its name. */
  protected override closeDescriptor(descriptor: number): void {
    this.parts.plane.removeElsewhere(this.#relay(descriptor));
  }

  #relay(descriptor: number): Relay {
    return { descriptor, index: this.relayIndex, network: this.network, namespace: this.#namespace };
  }

  protected override reopenDescriptor(): number {
    this.#leave();
    return this.openDescriptor();
  }

  protected override admit(slot: number, length: number): void {
    super.admit(slot, length);
    if (this.#mayBeLate) this.#port.connection?.outgoing.overtaken(this.parts.plane.segmentation.framesIn(slot));
  }

  /** Runs the task in the interface's network namespace, unless one of them is gone. */
  #unlessGone<T>(task: () => T, otherwise: T): T {
    try {
      return this.there(task);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      return otherwise;
    }
  }

  #leave(): void {
    this.#links.remove(this, () => {
      try {
        this.there(() => findLink(this.#node) && keepFromHost(this.#node, 'replace'));
        return true;
      } catch (error) {
        if (!(error instanceof Failure || error instanceof SystemError)) throw error;
        return false;
      }
    });
  }
}
