// Types of what can be connected: ports, devices, cables and impairments, shared by both threads of the fabric.

import type { CaptureFormat, LinkType } from '../api/captures.ts';
import type { DirectionImpairments } from '../api/impairments.ts';

/** A UDP socket on this host and its one peer. */
export interface UdpAddress {
  localPort: number;
  /** IP literal; `0.0.0.0` and `::` mean this host. */
  remoteHost: string;
  remotePort: number;
}

/** A TAP interface; frames that the host sends to it enter the fabric. Needs CAP_NET_ADMIN, or a TAP owned by the daemon's user. */
export interface TapAddress {
  /** Name of at most 15 bytes. */
  interface: string;
  /** `if-missing` (default), `always`: fails if a TAP of that name exists, or `never`: fails if there is none. */
  create?: 'if-missing' | 'always' | 'never';
  /** Whether the interface stays when the fabric closes it. Default: as before; a new one is removed. */
  persistent?: boolean;
  /** Id of the user who may open it later without CAP_NET_ADMIN. */
  owner?: number;
  /** Brings the interface up. A TAP that is down takes no frames. */
  up?: boolean;
  /** Adds the interface to the bridge of this name; implies `up`. */
  bridge?: string;
  /** Id of the process whose network namespace has the interface. Default: this process. Needs CAP_SYS_ADMIN. */
  process?: number | undefined;
  /** False: the host gives and gets no super-frames, and no frames whose checksum is to be completed. */
  offload?: boolean | undefined;
}

/** A packet socket on an existing Ethernet interface, which the host may use as before. Needs CAP_NET_RAW. */
export interface PacketAddress {
  interface: string;
  /**
   * Whether the interface is a node's alone, so that the kernel may forward its frames. It must be kept from the host
   * (`keepFromHost`) and up.
   */
  kernel?: boolean;
  /** Id of the process whose network namespace has the interface. Default: this process. Needs CAP_SYS_ADMIN. */
  process?: number | undefined;
}

/** A host interface as an end of a port. */
export type InterfaceAddress = ({ kind: 'tap' } & TapAddress) | ({ kind: 'packet' } & PacketAddress);

/** `down`: frames are dropped until it is up again; `gone`: until an interface of that name exists again. */
export type InterfaceState = 'open' | 'down' | 'gone';

/** An interface of a port went down, disappeared or returned. */
export interface InterfaceChange {
  side: 'device' | 'cable';
  interface: string;
  state: InterfaceState;
}

/** The NIO of the API: a UDP socket on all addresses of this host, a host interface, or nothing at the other end. */
export type Cable = ({ kind: 'udp' } & UdpCable) | InterfaceAddress | { kind: 'null' };

export interface UdpCable extends UdpAddress {
  /** An interface that leads to the remote host, too. Frames are taken from both, and sent there once `useVia` says so. */
  via?: PacketAddress | undefined;
}

/** How a port of an Ethernet switch treats VLAN tags. */
export interface SwitchPortSettings {
  number: number;
  /**
   * `access`: untagged frames of one VLAN. `dot1q`: a trunk of all VLANs, tagged except the native one. `qinq`: a tunnel; its frames are
   * unchanged within one VLAN and get that VLAN's tag in front of their own on a trunk.
   */
  type: 'access' | 'dot1q' | 'qinq';
  /** The VLAN of the port; on a trunk the native VLAN. */
  vlan: number;
  /** The EtherType of the tag that a tunnel adds. */
  etherType: number;
}

export interface MacTableEntry {
  vlan: number;
  /** The address as a 48-bit number. */
  address: number;
  /** The number of the port. */
  port: number;
  /** Milliseconds since the address was last seen. */
  age: number;
}

/** A virtual circuit of a Frame Relay switch: two ends, each a port and a 10-bit DLCI. */
export type FrameRelayCircuit = readonly [FrameRelayEnd, FrameRelayEnd];
export interface FrameRelayEnd {
  port: number;
  dlci: number;
}

/** A virtual path (without `vci`) or virtual channel of an ATM switch: two ends. */
export type AtmCircuit = readonly [AtmEnd, AtmEnd];
export interface AtmEnd {
  port: number;
  vpi: number;
  vci?: number;
}

/** The kinds of device in memory. */
export interface DeviceKinds {
  /** Floods each frame to all other ports. */
  hub: { settings: Record<never, never>; answers: Record<never, never>; input: never; output: never };
  /** Learns MAC addresses per VLAN. Ports without settings are access ports of VLAN 1. */
  'ethernet-switch': {
    /** `ageing`: milliseconds after which an address that is not seen again is forgotten. */
    settings: { ports: readonly SwitchPortSettings[]; ageing: number };
    answers: { macTable: MacTableEntry[] };
    /** Forget all addresses. */
    input: { kind: 'clear' };
    /** The table is full and an address could not be learned; sent at most once a minute. */
    output: { kind: 'mac-table-full' };
  };
  /** Forwards frames along virtual circuits and answers the local management interface. */
  'frame-relay-switch': {
    settings: { circuits: readonly FrameRelayCircuit[] };
    answers: Record<never, never>;
    input: never;
    output: never;
  };
  /** Forwards cells along virtual paths and channels. */
  'atm-switch': {
    settings: { circuits: readonly AtmCircuit[] };
    answers: Record<never, never>;
    input: never;
    output: never;
  };
  /**
   * Connects NAT nodes with the host, which is at port 0. Frames for the network's services (DHCP requests, and ARP answers to the MAC
   * `service`) are output, and the services' frames are input. MACs are in hexadecimal. Only the host is reached by `gateway`.
   */
  nat: {
    settings: { service: string; gateway: string };
    answers: Record<never, never>;
    input: Uint8Array;
    output: Uint8Array;
  };
  /**
   * The socket that an IOU image uses for all of its ports. The port number is the one in its frames: bay + 16 × unit. Socket files are
   * named by ids: `application` is the image's id, `bridge` is ours and used by no one else.
   */
  'iol-socket': {
    settings: { directory: string; application: number; bridge: number };
    answers: Record<never, never>;
    input: never;
    output: never;
  };
  /** A small host with a console (src/pc). It has one port. */
  pc: {
    /** `mac` is hexadecimal. The script runs at once, or, with `waits`, at the first port or input. */
    settings: { mac: string; script: string | undefined; waits: boolean };
    answers: { addresses: string[] };
    /** Typed text; the content of a requested file, or the error of a file that was to be written. */
    input: { kind: 'typed'; text: string } | { kind: 'file'; file: number; text: string | undefined };
    /** Console output; requests to read and write files, each with a number for the answer; the end of the PC. */
    output:
      | { kind: 'shown'; text: string }
      | { kind: 'read'; file: number; name: string }
      | { kind: 'write'; file: number; name: string; text: string }
      | { kind: 'ended'; fault: string | undefined };
  };
}

export type DeviceKind = keyof DeviceKinds;
/** Settings of a kind of device, given at creation and replaceable at any time. */
export type Settings<Kind extends DeviceKind> = DeviceKinds[Kind]['settings'];
/** A device's answers, by question. */
export type Answers<Kind extends DeviceKind> = DeviceKinds[Kind]['answers'];
export type Question<Kind extends DeviceKind> = keyof Answers<Kind> & string;
/** Input of a device. */
export type Input<Kind extends DeviceKind> = DeviceKinds[Kind]['input'];
/** Messages that a device sends without being asked. */
export type Output<Kind extends DeviceKind> = DeviceKinds[Kind]['output'];
export type DeviceSettings<Kind extends DeviceKind = DeviceKind> = {
  [Each in Kind]: { kind: Each; settings: Settings<Each> };
}[Kind];

/** Impairments of a cable by direction, as seen from its end in this process. */
export interface CableImpairments {
  /** Frames from the device into the cable. */
  outgoing: DirectionImpairments;
  /** Frames from the cable to the device. */
  incoming: DirectionImpairments;
}

/** Timed changes of the impairments, in rounds; times in ms. */
export interface SchedulePlan {
  /** Ordered by time; `at` counts from the start of the round. */
  changes: readonly { at: number; impairments: CableImpairments }[];
  /** Time from the start of a round to the next; Infinity if the last change stays. */
  period: number;
  /** Number of rounds; 0: until cancelled. */
  rounds: number;
  /** The impairments after the end. */
  base: CableImpairments;
}

export interface ScheduleState {
  state: 'running' | 'finished' | 'cancelled';
  /** Counts from 0. */
  round: number;
  /** Index of the last change in this round; -1 before the first. */
  change: number;
  /** Milliseconds since the start; stops at the end. */
  elapsed: number;
}

/** Impairments of both directions of a cable. */
export interface Impairments {
  /** -1 drops every frame, n > 0 every nth. */
  frequencyDrop?: number;
  /** Probability of losing a frame, in percent. */
  packetLoss?: number;
  /** Milliseconds that a frame is held: latency ± jitter. */
  delay?: { latency: number; jitter: number };
  /** Probability in percent that a quarter of the frame, around its middle, is altered. */
  corrupt?: number;
  /** Packet filters: a frame that matches any of them is dropped. Each instruction has two words: `code | jt << 16 | jf << 24`, `k`. */
  packetFilters?: readonly Uint32Array[];
}

/** What a capture records, and in which format. */
export interface CaptureSettings {
  linkType: LinkType;
  /** Default: `pcap`. */
  format?: CaptureFormat;
  /** Bytes kept of each frame, at least 1. Default: the whole frame. */
  snapLength?: number;
  /** Records only frames that match the packet filter: its text, and its program as in {@link Impairments}. */
  filter?: { expression: string; program: Uint32Array };
  /** Name of the captured link, for formats that store it. */
  interface?: { name: string; description?: string };
}

/** A capture in several files; the oldest is deleted when there are more than `files`. */
export interface CaptureRing {
  fileBytes: number;
  /** At least 2. */
  files: number;
}

/** Statistics of a capture since its start. */
export interface CaptureStatistics {
  /** Recorded frames, and their size on the cable. */
  frames: number;
  bytes: number;
  /** Frames dropped because the disk was too slow. */
  drops: number;
  /** Frames that did not match the filter. */
  filtered: number;
}

/** Why frames were dropped. */
export interface Drops {
  /** The device sent it while the port had no cable. */
  noCable: number;
  /** It came from the cable while the port had no device. */
  noDevice: number;
  frequencyDrop: number;
  packetLoss: number;
  packetFilters: number;
  /** Lost in one direction by `loss` or `burst_loss`. */
  loss: number;
  /** The queue of the rate limit was full. */
  rateQueue: number;
  /** The delay's queue was full. */
  delayQueue: number;
  /** The queue of the device in memory was full: a loop, or more traffic than this host can handle. */
  deviceQueue: number;
  /** The tag is not allowed on the switch port: any tag on an access port, VLAN 4095 on a trunk. */
  wrongTag: number;
  /** No matching virtual circuit, or an unsupported address format. */
  noCircuit: number;
  /** Empty packets. */
  empty: number;
  /** The socket's receive queue was full: more traffic than this host can handle. A run of frames of one length counts as one. */
  receiveQueue: number;
  /** Longer than a UDP packet can be (65,507 bytes over IPv4), or than the interface's MTU. */
  tooLong: number;
  /** Shorter than an Ethernet header (14 bytes), or than what the device in memory has to read. */
  runt: number;
  /** A super-frame whose headers are invalid, so it cannot be segmented. */
  malformed: number;
  /** The interface was down or gone. */
  interfaceDown: number;
  /** The socket's or interface's send queue was full. */
  sendQueue: number;
  /** The system refused it for another reason, such as a missing route. */
  sendFailed: number;
}

export type DropReason = keyof Drops;

/** Drops caused by a cable's impairments. */
export const DIRECTION_DROPS = [
  'frequencyDrop',
  'packetLoss',
  'packetFilters',
  'loss',
  'rateQueue',
  'delayQueue',
] as const satisfies readonly DropReason[];
export type DirectionDropReason = (typeof DIRECTION_DROPS)[number];

export interface Traffic {
  frames: number;
  bytes: number;
}

/** Statistics of one direction since the cable was plugged in or its counters were reset; times in ms. */
export interface DirectionStatistics {
  milliseconds: number;
  /** Frames before and after the impairments; a duplicated frame is delivered twice. */
  offered: Traffic;
  delivered: Traffic;
  dropped: Record<DirectionDropReason, number>;
  duplicated: number;
  /** Frames delivered after a later one (RFC 4737), counted while there were impairments. */
  reordered: number;
  corrupted: number;
  /** Rate in kbit/s (bits per millisecond) of the last full second. */
  kbit: number;
  /** Delay of the frames that came while there were impairments; percentiles are within 6 %. */
  delay:
    | {
        frames: number;
        mean: number;
        least: number;
        most: number;
        median: number;
        percentile95: number;
        percentile99: number;
      }
    | undefined;
  /** Frames held at present. */
  held: Traffic;
  /** Those that wait for the rate limit. */
  queue: Traffic;
}

/** Statistics of both directions, as seen from the cable's end in this process. */
export interface CableStatistics {
  outgoing: DirectionStatistics;
  incoming: DirectionStatistics;
}

/** Totals of all ports and captures since the start. */
export interface FabricTotals {
  toCable: Traffic;
  toDevice: Traffic;
  drops: Drops;
  captured: CaptureStatistics;
}

export interface FramePath {
  by: 'kernel' | 'fabric' | 'relay';
  /** Why the kernel does not forward them; null if it does. */
  reason: string | null;
}

/** The path of a UDP cable to another host. */
export interface TunnelStatistics {
  /** The longest IP packet in bytes that passes in one piece, as far as this host knows. */
  pathMtu: number;
  /** The longest frame for which that is enough. */
  longestWhole: number;
  /** Longer frames, which were sent in fragments. */
  fragmented: number;
  /** Frames that were dropped because no packet can hold them. */
  tooLong: number;
}

/** A UDP cable has its first frames that do not fit. */
export interface TunnelNotice extends Pick<TunnelStatistics, 'pathMtu' | 'longestWhole'> {
  unfit: 'fragmented' | 'tooLong';
  host: string;
}

export interface PortStatistics {
  /** Frames from the device that entered the cable, after impairments. */
  toCable: Traffic;
  /** Frames from the cable that reached the device, after impairments. */
  toDevice: Traffic;
  drops: Drops;
  /** Who forwards the device's frames: the kernel, or the fabric and why. */
  path: FramePath;
  /** The path of a UDP cable to another host; undefined for other cables. */
  tunnel: TunnelStatistics | undefined;
  /** Whether both ends of the cable are in this process, so that frames skip UDP. */
  fused: boolean;
  /** Interfaces of the port that are down or gone. */
  interfaces: InterfaceChange[];
  /** Frames held by a delay at present. */
  delayed: number;
  /** Statistics of the running capture. */
  capture: CaptureStatistics | undefined;
}
