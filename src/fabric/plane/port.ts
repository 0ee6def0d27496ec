// A port of the fabric: a device on one side, a cable on the other, with the cable's impairments and capture.

import type {
  Cable,
  CableImpairments,
  CableStatistics,
  FramePath,
  Impairments,
  InterfaceChange,
  PortStatistics,
  Traffic,
} from '../model.ts';
import { noDrops } from '../totals.ts';
import type { Capture } from './capture.ts';
import type { CounterBlock } from './counter-memory.ts';
import { Direction } from './direction.ts';
import type { FramePlane } from './frame-plane.ts';
import { InterfaceEndpoint } from './interface-endpoint.ts';
import { KernelEndpoint } from './kernel-endpoint.ts';
import { FallbackEndpoint } from './kernel-fallbacks.ts';
import type { KernelWay } from './kernel-links.ts';
import { Attachment } from './memory-device.ts';
import type { PlainEntry, PlainWay } from './plain-routes.ts';
import type { Schedule } from './schedule.ts';
import type { Segmentation } from './segmentation.ts';
import { UdpEndpoint } from './udp-endpoint.ts';

/** A port's device, as a receiver of frames. */
export type Device = UdpEndpoint | InterfaceEndpoint | Attachment;

/** A cable plugged into a port. */
export class Connection {
  readonly port: Port;
  readonly cable: Cable;
  readonly outgoing: Direction;
  readonly incoming: Direction;
  /** The UDP cable's socket, or the interface. */
  endpoint: UdpEndpoint | InterfaceEndpoint | undefined;
  /** The most recent schedule. */
  schedule: Schedule | undefined;
  /** The cable's other end, if it is in this process. */
  fusedWith: Connection | undefined;
  /** The port of a UDP cable's other interface to its host: that end while {@link fusedWith} is its connection. */
  far: Port | undefined;

  constructor(plane: FramePlane, port: Port, cable: Cable) {
    this.port = port;
    this.cable = cable;
    this.outgoing = new Direction(plane, port.drops, (slot, length) => port.toCable(slot, length));
    this.incoming = new Direction(plane, port.drops, (slot, length) => port.toDevice(slot, length));
  }

  impair(impairments: Impairments): void {
    this.outgoing.impair(impairments);
    this.incoming.impair(impairments);
  }

  impairDirections({ outgoing, incoming }: CableImpairments): void {
    this.outgoing.impairLine(outgoing);
    this.incoming.impairLine(incoming);
  }

  statistics(): CableStatistics {
    return { outgoing: this.outgoing.statistics(), incoming: this.incoming.statistics() };
  }

  resetStatistics(): void {
    if (this.endpoint instanceof UdpEndpoint) this.endpoint.resetUnfit();
    this.outgoing.resetStatistics();
    this.incoming.resetStatistics();
  }

  /** Drops the frames held by a delay. */
  cut(): void {
    this.schedule?.cancel();
    this.outgoing.cut();
    this.incoming.cut();
  }
}

// Indexes in a port's counters: pairs of frames and bytes, and frames dropped without a cable.
const SENT = 0;
const RECEIVED = 2;
const NO_CABLE = 4;
const COUNTERS = 5;

const NOT_HERE = 'the other end of the link is not in this thread';
const ELSEWHERE = 'the link goes to another host by UDP';
const NOT_OWN =
  'an end of the link is neither an interface of a container or a guest on this host nor a bridge that a cloud leads to nor an access port or a trunk of a switch';

export class Port {
  readonly group: string;
  readonly drops = noDrops();
  device: Device | undefined;
  connection: Connection | undefined;
  capture: Capture | undefined;
  /** The routes of frames from the device and from the cable, for the native frame loop. */
  readonly fromDeviceEntry: PlainEntry;
  readonly fromCableEntry: PlainEntry;
  readonly #plane: FramePlane;
  readonly #segmentation: Segmentation;
  readonly #block: CounterBlock;
  readonly #counts: Float64Array;

  /** @param group the port's lab */
  constructor(plane: FramePlane, group: string) {
    this.group = group;
    this.#plane = plane;
    this.#segmentation = plane.segmentation;
    this.#block = plane.counters.take(COUNTERS);
    this.#counts = this.#block.values;
    this.fromDeviceEntry = { leg: plane.routes?.legs.take() ?? -1, way: () => this.#wayOut() };
    this.fromCableEntry = { leg: plane.routes?.legs.take() ?? -1, way: () => this.#wayIn() };
  }

  /** Frees the counters of a port whose device and cable are already removed. */
  release(): void {
    this.#plane.counters.give(this.#block);
    for (const { leg } of [this.fromDeviceEntry, this.fromCableEntry]) this.#plane.routes?.legs.give(leg);
  }

  /** Takes a frame from the device for the cable. */
  fromDevice(slot: number, length: number): void {
    if (this.connection === undefined) this.drops.noCable += this.#segmentation.framesIn(slot);
    else this.connection.outgoing.offer(slot, length);
  }

  /** Sends a frame into the cable, after the impairments. */
  toCable(slot: number, length: number): void {
    const { fusedWith, endpoint } = this.connection!;
    this.#record(slot, length, true);
    this.#count(SENT, slot, length);
    if (fusedWith !== undefined) fusedWith.incoming.offer(slot, length);
    else if (endpoint !== undefined) this.#hand(endpoint, slot, length);
  }

  /** Delivers a frame to the device, after the impairments. */
  toDevice(slot: number, length: number): void {
    this.#record(slot, length, false);
    if (this.device === undefined) {
      this.drops.noDevice += this.#segmentation.framesIn(slot);
      return;
    }
    this.#count(RECEIVED, slot, length);
    this.#hand(this.device, slot, length);
  }

  /** The way of the device's frames if the kernel may forward them; otherwise why not. */
  kernelWay(): KernelWay | string {
    const { device } = this;
    if (!(device instanceof KernelEndpoint)) return this.#reasonOf(device);
    const there: Direction[] = [];
    const back: Direction[] = [];
    const ports: [Port, Port][] = [];
    if (this.connection === undefined) return NOT_HERE;
    for (const { near, far } of this.#cables()) {
      if (far === undefined || far.fusedWith !== near)
        return [near, far].some((end) => end?.port.sendsByUdp) ? ELSEWHERE : NOT_HERE;
      if (near.port.capture !== undefined || far.port.capture !== undefined) return 'the link is captured';
      there.push(near.outgoing, far.incoming);
      back.push(far.outgoing, near.incoming);
      ports.push([near.port, far.port]);
    }
    const end = ports.at(-1)?.[1].device;
    const to = end instanceof Attachment ? end.device.kernelSeat(end.seat) : end;
    if (to === undefined || to instanceof UdpEndpoint) return NOT_OWN;
    if (to instanceof InterfaceEndpoint && !(to instanceof KernelEndpoint)) return this.#reasonOf(to);
    if ([device, to].some((one) => one instanceof KernelEndpoint && one.state !== 'open'))
      return 'an interface of the link is down';
    if ([...there, ...back].some(({ isPlain }) => !isPlain)) return 'the link is suspended, filtered or impaired';
    if (to instanceof KernelEndpoint && ports.at(-1)![1].group !== this.group) return NOT_OWN;
    if (to instanceof KernelEndpoint) return { directions: there, ports, to };
    const reversed = ports.map(([near, far]) => [far, near] as const);
    return { directions: there, ports, seat: to, back: { directions: back, ports: reversed } };
  }

  /** Why the kernel forwards nothing from or to the device. */
  #reasonOf(device: Device | undefined): string {
    return device instanceof FallbackEndpoint ? device.reason : (this.#plane.withoutKernel ?? NOT_OWN);
  }

  exchange(before: InterfaceEndpoint, after: InterfaceEndpoint): void {
    if (this.device === before) this.device = after;
    // The port of the interface to another host: its cable's other end has the same endpoint.
    const near = this.connection?.fusedWith;
    if (near?.endpoint === before) near.endpoint = after;
  }

  /** The ports at both ends of the port's cable, and of further ones behind hubs with two ports. */
  *alongCables(): Iterable<Port> {
    yield this;
    const behind = this.device instanceof Attachment ? this.device.device.opposite(this.device) : undefined;
    const starts = behind === undefined ? [this] : [this, behind.port as Port];
    if (behind !== undefined) yield behind.port as Port;
    for (const start of starts)
      for (const { near, far } of start.#cables()) {
        if (near.port !== start) yield near.port;
        if (near.far !== undefined && near.far !== far?.port) yield near.far;
        if (far !== undefined) yield far.port;
      }
  }

  /** The port's cable, and further ones behind hubs with two ports; `far` is undefined if its end is elsewhere. */
  *#cables(): Iterable<{ near: Connection; far: Connection | undefined }> {
    const passed = new Set<Port>();
    for (let port: Port | undefined = this; port?.connection !== undefined && !passed.has(port); ) {
      passed.add(port);
      const { connection }: Port = port;
      const far: Connection | undefined = connection.fusedWith;
      yield { near: connection, far };
      const end: Device | undefined = far?.port.device;
      port = end instanceof Attachment ? (end.device.opposite(end)?.port as Port | undefined) : undefined;
    }
  }

  /** Counts frames that the kernel has forwarded. */
  forwarded(what: 'sent' | 'received', bytes: number, frames: number): void {
    const place = what === 'sent' ? SENT : RECEIVED;
    this.#counts[place]! += frames;
    this.#counts[place + 1]! += bytes;
  }

  removeDevice(): void {
    this.device?.close();
    this.device = undefined;
  }

  statistics(): PortStatistics {
    const { connection, device } = this;
    if (device instanceof UdpEndpoint || device instanceof InterfaceEndpoint) device.countOverflow();
    connection?.endpoint?.countOverflow();
    if (connection?.far?.device instanceof InterfaceEndpoint) connection.far.device.countOverflow();
    const counts = this.#counts;
    this.drops.noCable += counts[NO_CABLE]!;
    counts[NO_CABLE] = 0;
    return {
      toCable: this.#traffic(SENT),
      toDevice: this.#traffic(RECEIVED),
      drops: this.drops,
      path: this.#path(),
      tunnel:
        connection?.endpoint instanceof UdpEndpoint ? this.#plane.tunnels.statistics(connection.endpoint) : undefined,
      fused: connection?.fusedWith !== undefined,
      delayed: connection === undefined ? 0 : connection.outgoing.heldFrames + connection.incoming.heldFrames,
      interfaces: this.#lostInterfaces(),
      capture: this.capture?.statistics(),
    };
  }

  /** Whether frames go to another host by UDP. */
  get sendsByUdp(): boolean {
    const { endpoint, fusedWith } = this.connection ?? {};
    return fusedWith === undefined && endpoint instanceof UdpEndpoint && this.#plane.tunnels.has(endpoint);
  }

  #path(): FramePath {
    if (this.sendsByUdp) return { by: 'fabric', reason: ELSEWHERE };
    // A port of a switch or a hub is as its node's.
    const isNode = ({ device }: Port) => device instanceof KernelEndpoint || device instanceof FallbackEndpoint;
    const end = Array.from(this.alongCables()).find(isNode) ?? this;
    const way = (this.device instanceof Attachment ? end : this).kernelWay();
    return typeof way === 'string' ? { by: 'fabric', reason: way } : { by: 'kernel', reason: null };
  }

  #record(slot: number, length: number, outgoing: boolean): void {
    if (this.capture !== undefined) this.#segmentation.eachCopied(slot, length, this.capture, outgoing);
  }

  #count(place: number, slot: number, length: number): void {
    this.#counts[place]! += this.#segmentation.framesIn(slot);
    this.#counts[place + 1]! += this.#segmentation.bytesIn(slot, length);
  }

  #traffic(place: number): Traffic {
    return { frames: this.#counts[place]!, bytes: this.#counts[place + 1]! };
  }

  /** Undefined if TypeScript must see the frames from the device. */
  #wayOut(): PlainWay | undefined {
    const { place } = this.#block;
    const { connection } = this;
    if (place === -1) return undefined;
    if (connection === undefined) return { directions: [], traffic: [], lost: place + NO_CABLE, end: undefined };
    const { fusedWith, endpoint } = connection;
    if (this.capture !== undefined || endpoint instanceof InterfaceEndpoint) return undefined;
    const directions = [connection.outgoing.plainPlace];
    const traffic = [place + SENT];
    if (fusedWith === undefined) return { directions, traffic, end: endpoint };
    const rest = fusedWith.port.#wayIn();
    if (rest === undefined) return undefined;
    return { ...rest, directions: [...directions, ...rest.directions], traffic: [...traffic, ...rest.traffic] };
  }

  /** Undefined if TypeScript must see the frames from the cable. */
  #wayIn(): PlainWay | undefined {
    const { connection, device } = this;
    if (this.#block.place === -1 || this.capture !== undefined) return undefined;
    if (connection === undefined || device === undefined || device instanceof InterfaceEndpoint) return undefined;
    const traffic = [this.#block.place + RECEIVED];
    return { directions: [connection.incoming.plainPlace], traffic, end: device };
  }

  /** Most interfaces take frames unsegmented; all other receivers get real frames. */
  #hand(taker: Device, slot: number, length: number): void {
    if (taker instanceof InterfaceEndpoint && taker.takesSuperFrames) taker.send(slot);
    else this.#segmentation.each(slot, length, taker);
  }

  #lostInterfaces(): InterfaceChange[] {
    const ends = [
      ['device', this.device],
      ['cable', this.connection?.endpoint],
      ['cable', this.connection?.far?.device],
    ] as const;
    return ends.flatMap(([side, end]) =>
      end instanceof InterfaceEndpoint && end.state !== 'open'
        ? { side, interface: end.interface, state: end.state }
        : [],
    );
  }
}
