// Plain cables between interfaces of this host, forwarded by the kernel: the third executor beside TypeScript and the
// native frame loop. An eBPF program at each interface looks up where its frames go: to the other node's interface, or
// to an interface of the fabric's own. This class writes that map, and takes the kernel's counts over into the cable's.

import { COUNTER_BYTES, encodeWay, nodeProgram, relayProgram, WAY_BYTES } from '../../host/network/cable-programs.ts';
import { attachProgram, getLink } from '../../host/network/kernel-interfaces.ts';
import { BpfMap, type FrameCalls, loadTrafficProgram } from '../../host/system-calls.ts';

/** Maximum ports of one thread; further ones are served by packet sockets. */
const MOST_PORTS = 4096;

/** A node's interface with the fabric's own beside it. */
export interface KernelEnd {
  /** Indexes of the two interfaces. */
  nodeIndex: number;
  relayIndex: number;
  /** Forwards what waits in the fabric's interface. */
  drain(): void;
}

/** One direction of a cable. */
interface KernelDirection {
  /** Counts frames that the kernel has forwarded. */
  forwarded(bytes: number, frames: number): void;
  /** Counts frames that later ones may have overtaken in the kernel. */
  overtaken(frames: number): void;
}

/** The port of a node's interface. */
export interface KernelPort {
  readonly device: unknown;
  readonly connection:
    | { readonly outgoing: KernelDirection; readonly fusedWith: { readonly port: KernelPort } | undefined }
    | undefined;
  /** The way of the device's frames if the kernel may forward them; otherwise why not. */
  kernelWay(): KernelWay | string;
  forwarded(what: 'sent' | 'received', bytes: number, frames: number): void;
}

/** A plain way from one interface to another. */
export interface KernelWay {
  readonly to: KernelEnd;
  /** The directions of the cable that frames pass, in this order. */
  readonly directions: readonly [KernelDirection, KernelDirection];
  /** The port that sends, and the one that receives. */
  readonly ports: readonly [KernelPort, KernelPort];
}

interface Member {
  readonly port: KernelPort;
  readonly number: number;
  /** Present while the kernel forwards. */
  way: KernelWay | undefined;
  /** The last such way, for frames that were counted while it was left. */
  last: KernelWay | undefined;
  frames: number;
  bytes: number;
}

export class KernelLinks {
  readonly #calls: FrameCalls;
  readonly #ways: BpfMap;
  readonly #counters: BpfMap;
  readonly #members = new Map<KernelEnd, Member>();
  readonly #free: number[] = [];
  #next = 0;
  #isDue = false;

  /** @throws SystemError without CAP_BPF, or on a kernel without eBPF */
  constructor(calls: FrameCalls) {
    this.#calls = calls;
    this.#ways = new BpfMap('hash', WAY_BYTES, MOST_PORTS);
    calls.own(this.#ways.descriptor);
    this.#counters = new BpfMap('array', COUNTER_BYTES, MOST_PORTS);
    calls.own(this.#counters.descriptor);
  }

  /** Whether the kernel forwards the frames that come from the endpoint's node. */
  forwards(endpoint: KernelEnd): boolean {
    return this.#members.get(endpoint)?.way !== undefined;
  }

  /**
   * Joins a node's interface to an interface of the fabric's own. Frames go there until {@link settle}.
   * @throws SystemError, Failure when the kernel refuses
   */
  add(endpoint: KernelEnd, port: KernelPort, node: string, relay: string): void {
    const number = this.#free.pop() ?? this.#next++;
    if (number >= MOST_PORTS) {
      this.#next = MOST_PORTS;
      throw new RangeError(`one thread has at most ${MOST_PORTS} kernel links`);
    }
    this.#members.set(endpoint, { port, number, way: undefined, last: undefined, frames: 0, bytes: 0 });
    endpoint.relayIndex = getLink(relay).index;
    endpoint.nodeIndex = getLink(node).index;
    this.#counters.set(number, Buffer.alloc(COUNTER_BYTES));
    this.#ways.set(number, encodeWay(endpoint.relayIndex, false));
    this.#attach(relay, 'labwire_relay', relayProgram(endpoint.nodeIndex));
    const program = nodeProgram(number, this.#ways.descriptor, this.#counters.descriptor);
    this.#attach(node, 'labwire_node', program);
    this.changed();
  }

  /** Drops the frames of the interface from now on. @param isDetached whether its program is gone */
  remove(endpoint: KernelEnd, detach: () => boolean): void {
    const member = this.#members.get(endpoint);
    if (member === undefined) return;
    this.#ways.delete(member.number);
    this.#collect(member);
    this.#members.delete(endpoint);
    // A program that is still attached must never use the number of another port.
    if (detach()) this.#free.push(member.number);
    this.changed();
  }

  /** Must be called when any route of frames has changed. */
  changed(): void {
    this.#isDue = true;
  }

  /** Brings the kernel's map up to date after changes. */
  settle(): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    for (const [endpoint, member] of this.#members) {
      const found = member.port.kernelWay();
      const way = typeof found === 'string' ? undefined : found;
      if (way?.to !== member.way?.to) this.#turn(endpoint, member, way);
      else if (way !== undefined) member.way = member.last = way;
    }
  }

  /** Sends the frames of and to a port through the fabric, before a change that ends the cable's counters. */
  divert(port: KernelPort): void {
    for (const end of [port, port.connection?.fusedWith?.port]) {
      const member = end && this.#memberOf(end);
      if (member === undefined) continue;
      if (member[1].way !== undefined) this.#turn(...member, undefined);
      member[1].last = undefined;
    }
    this.changed();
  }

  /** Takes over what the kernel has counted at a port, by default at all. */
  collect(port?: KernelPort): void {
    if (port === undefined) for (const member of this.#members.values()) this.#collect(member);
    for (const end of [port, port?.connection?.fusedWith?.port]) {
      const member = end && this.#memberOf(end);
      if (member !== undefined) this.#collect(member[1]);
    }
  }

  #memberOf(port: KernelPort): [KernelEnd, Member] | undefined {
    const endpoint = port.device as KernelEnd;
    const member = this.#members.get(endpoint);
    return member && [endpoint, member];
  }

  #turn(endpoint: KernelEnd, member: Member, way: KernelWay | undefined): void {
    if (way !== undefined) endpoint.drain();
    const target = way === undefined ? endpoint.relayIndex : way.to.nodeIndex;
    this.#ways.set(member.number, encodeWay(target, way !== undefined));
    this.#collect(member);
    member.way = way;
    member.last = way ?? member.last;
  }

  #collect(member: Member): void {
    const value = this.#counters.get(member.number)!;
    const frames = Number(value.readBigUInt64LE(0));
    const bytes = Number(value.readBigUInt64LE(8));
    const [moreFrames, moreBytes] = [frames - member.frames, bytes - member.bytes];
    if (moreFrames === 0) return;
    member.frames = frames;
    member.bytes = bytes;
    const { last } = member;
    if (last === undefined) return;
    for (const direction of last.directions) direction.forwarded(moreBytes, moreFrames);
    last.ports[0].forwarded('sent', moreBytes, moreFrames);
    last.ports[1].forwarded('received', moreBytes, moreFrames);
  }

  #attach(name: string, label: string, instructions: Buffer): void {
    const program = loadTrafficProgram(label, instructions);
    try {
      attachProgram(name, program);
    } finally {
      this.#calls.close(program);
    }
  }
}
