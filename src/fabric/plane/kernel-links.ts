// Plain cables between interfaces of this host, forwarded by the kernel: the third executor beside TypeScript and the
// native frame loop. An eBPF program at each interface looks up where its frames go: to the other node's interface, to
// an interface of the fabric's own, or where a switch has learned their address. This class writes that map, and takes
// the kernel's counts over into the cable's.

import { encodeWay, type FrameTarget, nodeProgram, relayProgram } from '../../host/network/cable-programs.ts';
import { attachProgram } from '../../host/network/interface-programs.ts';
import { getLink } from '../../host/network/kernel-interfaces.ts';
import {
  type Count,
  KernelMaps,
  LeftCounters,
  NO_COUNT,
  type PortCount,
  programName,
} from '../../host/network/kernel-maps.ts';
import type { FrameCalls } from '../../host/system-calls.ts';
import type { InterfaceEndpoint } from './interface-endpoint.ts';
import { type KernelSeat, KernelStations } from './kernel-stations.ts';
import type { Timers } from './timers.ts';

/** Maximum ports of one thread; further ones are served by packet sockets. */
const MOST_PORTS = 4096;

/** A node's interface with the fabric's own beside it. */
export interface KernelEnd {
  /** Id of the process whose network namespace has both; undefined for this one's. */
  readonly network: number | undefined;
  /** Indexes of the two interfaces. */
  nodeIndex: number;
  relayIndex: number;
  /** Whether the kernel may hand frames to the node itself, past the interface, which would change none of them. */
  handsIn(): boolean;
  /** Forwards what waits in the fabric's interface, before later frames take another way, or just after. */
  drain(when: 'before' | 'after'): void;
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
  /** The lab: the kernel forwards no frame from one to another. */
  readonly group: string;
  readonly device: unknown;
  readonly connection: { readonly outgoing: KernelDirection } | undefined;
  /** The ports at both ends of the port's cable, and of further ones behind hubs with two ports. */
  alongCables(): Iterable<KernelPort>;
  /** The way of the device's frames if the kernel may forward them; otherwise why not. */
  kernelWay(): KernelWay | string;
  forwarded(what: 'sent' | 'received', bytes: number, frames: number): void;
  /** Replaces the endpoint of an interface. */
  exchange(before: InterfaceEndpoint, after: InterfaceEndpoint): void;
}

/** Frames that pass a cable, or several with hubs of two ports between them, one way. */
export interface KernelPassage {
  /** The directions of the cables that frames pass. */
  readonly directions: readonly KernelDirection[];
  /** At each cable the port that sends, and the one that receives. */
  readonly ports: readonly (readonly [KernelPort, KernelPort])[];
}

/** A plain way from one interface to another. */
interface CableWay extends KernelPassage {
  readonly to: KernelEnd;
  readonly seat?: undefined;
}

/** A plain way from an interface to a switch. */
interface SwitchWay extends KernelPassage {
  readonly seat: KernelSeat;
  /** From the switch. */
  readonly back: KernelPassage;
}

export type KernelWay = CableWay | SwitchWay;

interface Member {
  readonly port: KernelPort;
  readonly number: number;
  readonly lab: number;
  /** Whether the node's program has the number. */
  isAttached: boolean;
  /** Present while the kernel forwards. */
  way: KernelWay | undefined;
  /** The last such way of the present cable, for frames that were counted while it was left. */
  last: KernelWay | undefined;
  /** What the kernel had counted when it was last asked. */
  counted: PortCount;
  /** Whether the next cable is the one whose counters an earlier server has left. */
  inherits: boolean;
}

const NOWHERE = encodeWay('nowhere');
const TO_FABRIC = encodeWay('fabric');

function endOf(end: KernelEnd, port: number): FrameTarget {
  return { index: end.nodeIndex, port, isPair: end.handsIn() };
}

/** Whether two ways lead to the same interface, or the same seat with the same VLANs. */
function leadAlike(a: KernelWay | undefined, b: KernelWay | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.seat === undefined && b.seat === undefined) return a.to === b.to;
  if (a.seat === undefined || b.seat === undefined) return false;
  const [one, other] = [a.seat, b.seat];
  const isSame = one.device === other.device && one.seat === other.seat;
  return isSame && one.vlan === other.vlan && one.isTrunk === other.isTrunk;
}

/** Adds what the kernel has counted since `before`. */
function count({ directions, ports }: KernelPassage, now: Count, before: Count): void {
  const [frames, bytes] = [now[0] - before[0], now[1] - before[1]];
  if (frames === 0) return;
  for (const direction of directions) direction.forwarded(bytes, frames);
  for (const [sender, receiver] of ports) {
    sender.forwarded('sent', bytes, frames);
    receiver.forwarded('received', bytes, frames);
  }
}

export class KernelLinks {
  readonly #maps: KernelMaps;
  readonly stations: KernelStations;
  readonly #members = new Map<KernelEnd, Member>();
  readonly #free: number[] = [];
  #next = 0;
  #lastLab = 0;
  #isDue = false;

  /** @throws SystemError without CAP_BPF, or on a kernel without eBPF */
  constructor(calls: FrameCalls, timers: Timers) {
    this.#maps = new KernelMaps(MOST_PORTS);
    for (const descriptor of Object.values(this.#maps.descriptors)) calls.own(descriptor);
    this.stations = new KernelStations(this.#maps.stations, timers);
  }

  /** Whether the kernel forwards all frames that come from the endpoint's node. */
  forwards(endpoint: KernelEnd): boolean {
    const way = this.#members.get(endpoint)?.way;
    return way !== undefined && way.seat === undefined;
  }

  /**
   * Joins a node's interface to an interface of the fabric's own. Frames go there until {@link settle}.
   * @throws SystemError, Failure when the kernel refuses
   */
  add(endpoint: KernelEnd, port: KernelPort, node: string, relay: string): void {
    // Indexes of interfaces mean others in another namespace.
    const [first = endpoint] = this.#members.keys();
    if (first.network !== endpoint.network)
      throw new RangeError('interfaces of nodes are in different network namespaces');
    const number = this.#free.pop() ?? this.#next++;
    if (number >= MOST_PORTS) {
      this.#next = MOST_PORTS;
      throw new RangeError(`one thread has at most ${MOST_PORTS} kernel links`);
    }
    const lab = this.#labOf(port.group);
    const unused = { isAttached: false, way: undefined, last: undefined, counted: NO_COUNT, inherits: false };
    const member: Member = { port, number, lab, ...unused };
    this.#members.set(endpoint, member);
    endpoint.nodeIndex = getLink(node).index;
    using left = LeftCounters.find(node);
    this.#maps.ways.set(number, TO_FABRIC);
    this.#maps.setOwner(number, endpoint.nodeIndex, lab);
    const toNode = relayProgram(endpoint.nodeIndex);
    attachProgram(relay, { title: 'labwire', label: 'labwire_relay', instructions: toNode });
    const instructions = nodeProgram({ number, relayIndex: endpoint.relayIndex, lab }, this.#maps.descriptors);
    attachProgram(node, { title: programName(number), label: 'labwire_node', instructions });
    member.isAttached = true;
    this.#maps.begin(number, left?.read() ?? NO_COUNT);
    member.inherits = left !== undefined && port.connection === undefined;
    this.changed();
  }

  /** Drops the frames of the interface from now on. @param isDetached whether its program is gone */
  remove(endpoint: KernelEnd, detach: () => boolean): void {
    const member = this.#members.get(endpoint);
    if (member === undefined) return;
    if (member.way?.seat) this.stations.leave(member.way.seat);
    this.#maps.ways.set(member.number, NOWHERE);
    this.#maps.setOwner(member.number, 0, 0);
    this.#collect(member);
    this.#members.delete(endpoint);
    // A program that is still attached must never use the number of another port.
    if (detach() || !member.isAttached) this.#free.push(member.number);
    this.changed();
  }

  /** Must be called when any route of frames has changed. */
  changed(): void {
    this.#isDue = true;
  }

  /** Brings the kernel's map up to date after changes. */
  settle(): void {
    if (this.#isDue) this.#settleWays();
    this.stations.settle((stops, isLate) => {
      const ports = new Set(Array.from(stops, ({ port }) => port));
      for (const [endpoint, { number }] of this.#members)
        if (ports.has(number)) endpoint.drain(isLate ? 'after' : 'before');
    });
  }

  #settleWays(): void {
    this.#isDue = false;
    for (const [endpoint, member] of this.#members) {
      const found = member.port.kernelWay();
      const way = typeof found === 'string' ? undefined : found;
      if (!leadAlike(way, member.way)) this.#turn(endpoint, member, way);
      else if (way !== undefined) member.way = member.last = way;
    }
  }

  /** Sends the frames of and to a port through the fabric, before a change that ends the cable's counters. */
  divert(port: KernelPort): void {
    for (const end of port.alongCables()) {
      const member = this.#memberOf(end);
      if (member === undefined) continue;
      if (member[1].way !== undefined) this.#turn(...member, undefined);
      member[1].last = undefined;
    }
    this.changed();
  }

  /** Takes over what the kernel has counted at a port, by default at all. */
  collect(port?: KernelPort): void {
    for (const member of port === undefined ? this.#members.values() : this.#membersOf(port)) this.#collect(member);
  }

  /** The next server takes over only what the kernel counts at the port's cable from now on. */
  reset(port: KernelPort): void {
    for (const member of this.#membersOf(port)) {
      this.#collect(member);
      this.#forget(member);
    }
  }

  /** Must be called when a cable was plugged into the port. */
  connected(port: KernelPort): void {
    const member = this.#memberOf(port)?.[1];
    if (member === undefined) return;
    if (!member.inherits) this.#forget(member);
    member.inherits = false;
  }

  /** Counts for the present cable, here and in the next server, only from now on. */
  #forget(member: Member): void {
    if (member.last === undefined) member.counted = this.#maps.count(member.number);
    this.#maps.setBase(member.number, member.counted);
  }

  #membersOf(port: KernelPort): Member[] {
    return Array.from(port.alongCables()).flatMap((end) => this.#memberOf(end)?.[1] ?? []);
  }

  #memberOf(port: KernelPort): [KernelEnd, Member] | undefined {
    const endpoint = port.device as KernelEnd;
    const member = this.#members.get(endpoint);
    return member && [endpoint, member];
  }

  #turn(endpoint: KernelEnd, member: Member, way: KernelWay | undefined): void {
    if (way !== undefined) endpoint.drain('before');
    if (member.way?.seat) this.stations.leave(member.way.seat);
    this.#maps.ways.set(member.number, this.#encode(endpoint, member, way));
    this.#collect(member);
    member.way = way;
    member.last = way ?? member.last;
  }

  #collect(member: Member): void {
    const { last } = member;
    if (last === undefined) return;
    const now = this.#maps.count(member.number);
    count(last, now.sent, member.counted.sent);
    if (last.seat) count(last.back, now.received, member.counted.received);
    member.counted = now;
  }

  #encode(endpoint: KernelEnd, { number }: Member, way: KernelWay | undefined): Buffer {
    if (way === undefined) return TO_FABRIC;
    if (way.seat === undefined) {
      const port = this.#members.get(way.to)?.number;
      return port === undefined ? TO_FABRIC : encodeWay(endOf(way.to, port));
    }
    const { vlan, isTrunk } = way.seat;
    const device = this.stations.enter(way.seat, endOf(endpoint, number));
    return device === undefined ? TO_FABRIC : encodeWay({ switch: device, vlan, isTrunk });
  }

  #labOf(group: string): number {
    for (const { port, lab } of this.#members.values()) if (port.group === group) return lab;
    return ++this.#lastLab;
  }
}
