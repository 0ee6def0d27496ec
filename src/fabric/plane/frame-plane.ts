// The worker's loop: waits for sockets, forwards their frames and handles messages of the main thread.

import { Failure, messageOf } from '../../failures.ts';
import { FrameLoop } from '../../host/network/frame-loop.ts';
import { keepFromHost, programAt } from '../../host/network/interface-programs.ts';
import type { Relay } from '../../host/network/interface-removals.ts';
import { findLink } from '../../host/network/kernel-interfaces.ts';
import { type FrameCalls, inNetworkOfAny, type SocketAddress, SystemError } from '../../host/system-calls.ts';
import type { Drops, InterfaceAddress, PacketAddress } from '../model.ts';
import type { Report } from '../protocol.ts';
import { Captures } from './capture.ts';
import { CounterMemory } from './counter-memory.ts';
import { DelayQueue, type Place } from './delay-queue.ts';
import { type InterfaceEndpoint, type InterfaceParts, PacketEndpoint, TapEndpoint } from './interface-endpoint.ts';
import { KernelEndpoint } from './kernel-endpoint.ts';
import { FallbackEndpoint, KernelFallbacks } from './kernel-fallbacks.ts';
import { KernelLinks, type KernelPort } from './kernel-links.ts';
import { type PlainEntry, PlainRoutes } from './plain-routes.ts';
import { Segmentation } from './segmentation.ts';
import { Timers } from './timers.ts';
import { TunnelPaths } from './tunnel-paths.ts';
import { Turn } from './turn.ts';
import { type Deliver, UdpEndpoint } from './udp-endpoint.ts';

/** If fewer slots are free before a socket is read, the turn ends first. */
const LOW_ROOM = 8;
/** Requested socket buffers in bytes; the kernel limits them to net.core.rmem_max and wmem_max. */
const SOCKET_BUFFER_BYTES = 1 << 20;
/** Delayed frames released per step. */
const RELEASES = 256;

/** Called when its descriptor is readable. */
interface Endpoint {
  receive(): void;
}

type PostToMain = (message: Extract<Report, { kind: 'captured' | 'relay' | 'remove' }>) => void;

export class FramePlane {
  readonly calls: FrameCalls;
  readonly turn: Turn;
  readonly segmentation: Segmentation;
  readonly delays = new DelayQueue();
  readonly timers = new Timers();
  readonly tunnels = new TunnelPaths(this.timers);
  readonly captures: Captures;
  readonly counters = new CounterMemory();
  /** The routes for the native frame loop; undefined without it. */
  readonly routes: PlainRoutes | undefined;
  /** The eventfd that the main thread uses to end the wait. */
  readonly wakeUp: number;
  /** The time in ms when the current frames were received or released, so that the clock is not read for each frame. */
  now = performance.now();
  /** Forwards plain frames in the kernel; undefined until the first node's interface is opened. */
  kernelLinks: KernelLinks | undefined;
  /** Why the kernel may forward nothing; undefined if it may. */
  readonly withoutKernel: string | undefined;
  readonly #fallbacks = new KernelFallbacks(this.timers);
  readonly #post: PostToMain;
  readonly #poller: number;
  readonly #place: Place = (bytes, offset, length) => this.turn.place(bytes, offset, length);
  readonly #endpoints: (Endpoint | undefined)[] = [];
  readonly #loop: FrameLoop | undefined;

  /**
   * `withLoop`: the native frame loop forwards plain frames. `withKernel`: the kernel does, between nodes' interfaces.
   * @throws if the loop cannot be loaded
   */
  constructor(calls: FrameCalls, post: PostToMain, { withLoop = false, withKernel = false } = {}) {
    this.calls = calls;
    if (!withKernel) this.withoutKernel = 'kernel_links is off';
    if (withLoop) {
      this.#loop = new FrameLoop(calls.allSlots, this.counters.values);
      this.routes = new PlainRoutes(this.#loop);
    }
    this.turn = new Turn(calls);
    this.segmentation = new Segmentation(calls, this.turn);
    this.captures = new Captures(calls, (chunks) => post({ kind: 'captured', chunks }));
    this.#post = post;
    this.wakeUp = calls.openEvent();
    this.#poller = calls.openPoller();
    calls.watch(this.#poller, this.wakeUp);
  }

  /**
   * Opens a socket whose frames go to `deliver`.
   * @throws SystemError
   */
  open(local: SocketAddress, remote: SocketAddress, drops: Drops, deliver: Deliver, entry: PlainEntry): UdpEndpoint {
    const socket = this.calls.openUdpSocket(local, remote, SOCKET_BUFFER_BYTES);
    this.#watch(socket);
    const endpoint = new UdpEndpoint(this, socket, drops, deliver, entry);
    this.#endpoints[socket] = endpoint;
    return endpoint;
  }

  /** Calls `endpoint.receive` whenever the descriptor is readable. If this fails, the descriptor is closed. */
  watch(descriptor: number, endpoint: Endpoint): void {
    this.#watch(descriptor);
    this.#endpoints[descriptor] = endpoint;
  }

  /** Closes a watched descriptor. */
  close(descriptor: number): void {
    this.#endpoints[descriptor] = undefined;
    this.calls.close(descriptor);
  }

  /** Has the TAP of a watched descriptor removed when this thread ends, unless {@link removeElsewhere} comes first. */
  own(relay: Relay): void {
    this.#post({ kind: 'relay', relay });
  }

  /**
   * Has a TAP removed and its descriptor closed by another thread. The kernel needs some 10 ms or more for that; frames of
   * all labs would wait here meanwhile.
   */
  removeElsewhere(relay: Relay): void {
    const { descriptor } = relay;
    if (this.#endpoints[descriptor] !== undefined) this.calls.unwatch(this.#poller, descriptor);
    this.#endpoints[descriptor] = undefined;
    this.calls.release(descriptor);
    this.#post({ kind: 'remove', relay });
  }

  /**
   * Opens an interface whose frames go to `deliver`.
   * @throws SystemError
   */
  openInterface(address: InterfaceAddress, port: KernelPort, parts: Omit<InterfaceParts, 'plane'>): InterfaceEndpoint {
    const all = { plane: this, ...parts };
    if (address.kind === 'packet' && address.kernel === true) return this.#openNode(address, port, all);
    const endpoint = address.kind === 'tap' ? new TapEndpoint(address, all) : new PacketEndpoint(address, all);
    endpoint.open();
    return endpoint;
  }

  #openNode(address: PacketAddress, port: KernelPort, parts: InterfaceParts): InterfaceEndpoint {
    const opened = this.withoutKernel ?? this.#openInKernel(address, port, parts);
    if (typeof opened !== 'string') return opened;
    // An earlier server's program would go on forwarding beside this one.
    inNetworkOfAny(address.process, () => {
      const { interface: node } = address;
      if (findLink(node) !== undefined && programAt(node) !== undefined) keepFromHost(node, 'replace');
    });
    const endpoint = new FallbackEndpoint(address, parts, opened, this.#fallbacks);
    endpoint.open();
    if (this.withoutKernel !== undefined) return endpoint;
    this.#fallbacks.add(endpoint, () => {
      const next = this.#openInKernel(address, port, parts, () => endpoint.drain());
      if (typeof next === 'string') return next;
      endpoint.countOverflow();
      port.exchange(endpoint, next);
      endpoint.close();
      this.changed();
      return undefined;
    });
    return endpoint;
  }

  /** Returns why the kernel cannot forward frames of the interface, if so. */
  #openInKernel(
    address: PacketAddress,
    port: KernelPort,
    parts: InterfaceParts,
    beforeFirst?: () => void,
  ): KernelEndpoint | string {
    try {
      this.kernelLinks ??= new KernelLinks(this.calls, this.timers);
      const endpoint = new KernelEndpoint(address, port, this.kernelLinks, parts, beforeFirst);
      endpoint.open();
      return endpoint;
    } catch (error) {
      if (!(error instanceof SystemError || error instanceof Failure || error instanceof RangeError)) throw error;
      return `the kernel has refused to forward, and is tried again: ${messageOf(error)}`;
    }
  }

  /** Must be called when any route of frames has changed. */
  changed(): void {
    this.routes?.changed();
    this.kernelLinks?.changed();
  }

  /** Lets the kernel forward what is plain now, and nothing else; after changes, and before they are answered. */
  settle(): void {
    this.kernelLinks?.settle();
  }

  /** Runs one turn: waits until there is work, then does it. */
  step(): void {
    // Frames left for this turn must not be overtaken.
    const waiter = this.turn.unfinished ? this.calls : (this.#loop ?? this.calls);
    const ready = waiter.wait(this.#poller, this.#patience());
    this.now = performance.now();
    if (waiter === this.#loop && this.#loop.handedCount > 0)
      (this.#endpoints[this.#loop.handedSocket] as UdpEndpoint).takeHanded(this.#loop);
    for (let index = 0; index < ready; index++) {
      const descriptor = waiter.readyDescriptor(index);
      if (descriptor === this.wakeUp) {
        this.calls.drainEvent(this.wakeUp);
        continue;
      }
      if (this.turn.room < LOW_ROOM) this.turn.end();
      if (index > 0) this.now = performance.now();
      this.#endpoints[descriptor]?.receive();
    }
    this.#releaseDelayed();
    this.timers.run();
    this.turn.end();
    this.settle();
    if (this.captures.nextFlush !== undefined && this.captures.nextFlush <= performance.now()) this.captures.flushDue();
  }

  #watch(descriptor: number): void {
    try {
      this.calls.watch(this.#poller, descriptor);
    } catch (error) {
      this.calls.close(descriptor);
      throw error;
    }
  }

  /** How long to wait in ms; -1: until something happens. */
  #patience(): number {
    if (this.turn.unfinished) return 0;
    const next = Math.min(
      this.delays.nextDue ?? Infinity,
      this.timers.heap.nextDue ?? Infinity,
      this.captures.nextFlush ?? Infinity,
    );
    return next === Infinity ? -1 : Math.max(0, next - performance.now());
  }

  #releaseDelayed(): void {
    if (this.delays.nextDue === undefined) return;
    this.now = performance.now();
    for (let released = 0; released < RELEASES; released++) {
      if (this.turn.room === 0) this.turn.end();
      if (!this.delays.release(this.now, this.#place)) return;
    }
  }
}
