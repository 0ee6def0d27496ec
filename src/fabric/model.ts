// What can be plugged together: the words that both threads of the fabric use.

import type { CaptureFormat } from '../store/captures.ts';
import type { DirectionImpairments } from '../store/impairments.ts';

/** A UDP socket of this host and the one peer that it hears and sends to. */
export interface UdpAddress {
  localPort: number;
  /** IP literal; `0.0.0.0` and `::` are this host. */
  remoteHost: string;
  remotePort: number;
}

/** A TAP interface: what the host sends into it comes to the fabric. Needs CAP_NET_ADMIN, or a TAP that is the daemon's user's. */
export interface TapAddress {
  /** Name of at most 15 bytes. */
  interface: string;
  /** `if-missing` (when not given), `always`: a TAP of that name must not exist, or `never`: it must. */
  create?: 'if-missing' | 'always' | 'never';
  /** Whether the interface stays when the fabric closes it; as it was, when not given, and a new one goes. */
  persistent?: boolean;
  /** Number of the user who may open it later without CAP_NET_ADMIN. */
  owner?: number;
  /** Brings the interface up. A TAP that is down takes no frames. */
  up?: boolean;
  /** Name of the bridge of which the interface is to be a port. Brings it up, too. */
  bridge?: string;
  /** Number of the process in whose network namespace the interface is; that of this one when not given. Needs CAP_SYS_ADMIN. */
  process?: number;
}

/** A packet socket on an Ethernet interface that the host has already, beside the host's own use of it. Needs CAP_NET_RAW. */
export interface PacketAddress {
  interface: string;
}

/** An interface of this host as an end of a port. */
export type InterfaceAddress = ({ kind: 'tap' } & TapAddress) | ({ kind: 'packet' } & PacketAddress);

/** `down`: frames are dropped until it is up again; `gone`: until an interface of that name is there again. */
export type InterfaceState = 'open' | 'down' | 'gone';

/** An interface at one side of a port has gone down or away, or is back. */
export interface InterfaceChange {
  side: 'device' | 'cable';
  interface: string;
  state: InterfaceState;
}

/** The NIO of the API: a UDP socket on all addresses of this host, an interface of this host, or nothing at the other end. */
export type Cable = ({ kind: 'udp' } & UdpAddress) | InterfaceAddress | { kind: 'null' };

/** How a port of an Ethernet switch treats tags. */
export interface SwitchPortSettings {
  number: number;
  /**
   * `access`: frames without a tag, of one VLAN. `dot1q`: a trunk of all VLANs, tagged but for the native one. `qinq`: a tunnel;
   * frames as they are, in one VLAN whose tag they get in front of their own where they leave by a trunk.
   */
  type: 'access' | 'dot1q' | 'qinq';
  /** The VLAN of the port, the native one of a trunk. */
  vlan: number;
  /** The type of the tag that a tunnel's frames get. */
  etherType: number;
}

export interface MacTableEntry {
  vlan: number;
  /** The address as a number of 48 bits. */
  address: number;
  /** The number of the port. */
  port: number;
  /** Milliseconds since it was heard. */
  age: number;
}

/** A virtual circuit of a Frame Relay switch: two ends, each a port and a DLCI of 10 bits there. */
export type FrameRelayCircuit = readonly [FrameRelayEnd, FrameRelayEnd];
export interface FrameRelayEnd {
  port: number;
  dlci: number;
}

/** A virtual path (without `vci`), or a virtual channel of an ATM switch: two ends. */
export type AtmCircuit = readonly [AtmEnd, AtmEnd];
export interface AtmEnd {
  port: number;
  vpi: number;
  vci?: number;
}

/** The kinds of device in memory. */
export interface DeviceKinds {
  /** Floods a frame that one of its ports hears to all others. */
  hub: { settings: Record<never, never>; answers: Record<never, never>; input: never; output: never };
  /** Learns MAC addresses by VLAN. A port that the settings do not name is an access port of VLAN 1. */
  'ethernet-switch': {
    /** `ageing`: milliseconds for which an address that is not heard again is known. */
    settings: { ports: readonly SwitchPortSettings[]; ageing: number };
    answers: { macTable: MacTableEntry[] };
    /** The addresses are to be forgotten. */
    input: { kind: 'clear' };
    /** An address could not be learned; said once a minute at the most. */
    output: { kind: 'mac-table-full' };
  };
  /** Passes frames along virtual circuits and answers the local management interface. */
  'frame-relay-switch': {
    settings: { circuits: readonly FrameRelayCircuit[] };
    answers: Record<never, never>;
    input: never;
    output: never;
  };
  /** Passes cells along virtual paths and channels. */
  'atm-switch': {
    settings: { circuits: readonly AtmCircuit[] };
    answers: Record<never, never>;
    input: never;
    output: never;
  };
  /**
   * Joins NAT nodes with the host, at its port 0. Frames for the services of the network, which are those that ask for DHCP and
   * the ARP answers to the MAC `service`, come out, and frames of the services go in. MACs are in hexadecimal; only the host is
   * reached by `gateway`.
   */
  nat: {
    settings: { service: string; gateway: string };
    answers: Record<never, never>;
    input: Uint8Array;
    output: Uint8Array;
  };
  /**
   * The socket by which an IOU image speaks for all of its ports. A port has the number that frames carry: bay + 16 × unit. Socket files
   * are named by ids: `application` is the image's, `bridge` ours, and nobody else's.
   */
  'iol-socket': {
    settings: { directory: string; application: number; bridge: number };
    answers: Record<never, never>;
    input: never;
    output: never;
  };
  /** A small host with a console: src/pc. It has one port. */
  pc: {
    /** `mac` in hexadecimal. It runs the script at once, or, if it `waits`, when it has a port or input. */
    settings: { mac: string; script: string | undefined; waits: boolean };
    answers: Record<never, never>;
    /** What was typed; the text of a file that it asked for, or what went wrong with one that it wrote. */
    input: { kind: 'typed'; text: string } | { kind: 'file'; file: number; text: string | undefined };
    /** What the console shows; files to be read and written, by a number for the answer; its end. */
    output:
      | { kind: 'shown'; text: string }
      | { kind: 'read'; file: number; name: string }
      | { kind: 'write'; file: number; name: string; text: string }
      | { kind: 'ended'; fault: string | undefined };
  };
}

export type DeviceKind = keyof DeviceKinds;
/** What a device of the kind is made with, and may be given again at any time. */
export type Settings<Kind extends DeviceKind> = DeviceKinds[Kind]['settings'];
/** What it answers, by question. */
export type Answers<Kind extends DeviceKind> = DeviceKinds[Kind]['answers'];
export type Question<Kind extends DeviceKind> = keyof Answers<Kind> & string;
/** What it is told. */
export type Input<Kind extends DeviceKind> = DeviceKinds[Kind]['input'];
/** What it says by itself. */
export type Output<Kind extends DeviceKind> = DeviceKinds[Kind]['output'];
export type DeviceSettings<Kind extends DeviceKind = DeviceKind> = {
  [Each in Kind]: { kind: Each; settings: Settings<Each> };
}[Kind];

/** What happens to frames on a cable, in each direction, as its end in this process sees them. */
export interface CableImpairments {
  /** Of the frames that the device sends into the cable. */
  outgoing: DirectionImpairments;
  /** Of those that it gets from there. */
  incoming: DirectionImpairments;
}

/** Changes of them at set times, round by round; times in ms. */
export interface SchedulePlan {
  /** In order of time; `at` counts from the begin of the round. */
  changes: readonly { at: number; impairments: CableImpairments }[];
  /** From the begin of one round to that of the next; Infinity for a last change that stays. */
  period: number;
  /** 0: until it is cancelled. */
  rounds: number;
  /** What there is when it is over. */
  base: CableImpairments;
}

export interface ScheduleState {
  state: 'running' | 'finished' | 'cancelled';
  /** From 0 on. */
  round: number;
  /** Index of the change that came last in this round; -1 before the first. */
  change: number;
  /** Milliseconds since the start, until the end. */
  elapsed: number;
}

/** What happens to frames on a cable, in both directions. */
export interface Impairments {
  /** -1 drops every frame, n > 0 every nth. */
  frequencyDrop?: number;
  /** Chance in percent that a frame is lost. */
  packetLoss?: number;
  /** Milliseconds that a frame is held: latency ± jitter. */
  delay?: { latency: number; jitter: number };
  /** Chance in percent that a quarter of the frame, around its middle, is altered. */
  corrupt?: number;
  /** Packet filters: a frame that one of them accepts is dropped. Two words an instruction: `code | jt << 16 | jf << 24`, `k`. */
  packetFilters?: readonly Uint32Array[];
}

/** Link types of a capture file, by the API's names, with their numbers (https://www.tcpdump.org/linktypes.html). */
export const LINK_TYPES = {
  DLT_EN10MB: 1,
  DLT_FRELAY: 107,
  DLT_C_HDLC: 104,
  DLT_PPP_SERIAL: 50,
  DLT_ATM_RFC1483: 100,
} as const;

export type LinkType = keyof typeof LINK_TYPES;

/** What a capture records, and how. */
export interface CaptureSettings {
  linkType: LinkType;
  /** `pcap` when not given. */
  format?: CaptureFormat;
  /** Bytes of each frame that are kept, from 1 on; the whole frame when not given. */
  snapLength?: number;
  /** Only frames that the packet filter accepts are recorded: its text, and its program as for {@link Impairments}. */
  filter?: { expression: string; program: Uint32Array };
  /** What is captured, for formats that say it. */
  interface?: { name: string; description?: string };
}

/** A capture in several files, of which the oldest goes when there are more than `files`. */
export interface CaptureRing {
  fileBytes: number;
  /** At least 2. */
  files: number;
}

/** Of a capture, since its start. */
export interface CaptureStatistics {
  /** What was recorded; bytes as they passed the cable. */
  frames: number;
  bytes: number;
  /** Frames that a slow disk left no room for. */
  drops: number;
  /** Frames that the filter did not accept. */
  filtered: number;
}

/** Why frames did not arrive. */
export interface Drops {
  /** Sent by the device while the port had no cable. */
  noCable: number;
  /** Came from the cable while the port had no device. */
  noDevice: number;
  frequencyDrop: number;
  packetLoss: number;
  packetFilters: number;
  /** Lost in one direction, at random or in a burst. */
  loss: number;
  /** The queue of a limited rate was full. */
  rateQueue: number;
  /** The delay's queue was full. */
  delayQueue: number;
  /** The queue of the device in memory was full: a loop, or more than this host can move. */
  deviceQueue: number;
  /** With a tag that the switch's port does not take: any at an access port, VLAN 4095 at a trunk. */
  wrongTag: number;
  /** Of no virtual circuit that the switch has, or in a form of address that it does not know. */
  noCircuit: number;
  /** Packets without a byte. */
  empty: number;
  /** The socket's receive queue was full: more came than this host can move. A run of frames of one length counts once. */
  receiveQueue: number;
  /** Longer than a UDP packet can be (65,507 bytes over IPv4), or than the interface's MTU. */
  tooLong: number;
  /** Shorter than an Ethernet header (14 bytes), which no interface takes, or than what the device in memory has to read. */
  runt: number;
  /** A super-frame of an interface whose headers make no sense, so that it cannot be cut. */
  malformed: number;
  /** The interface was down or gone. */
  interfaceDown: number;
  /** The socket's or interface's send queue was full. */
  sendQueue: number;
  /** Refused by the system for another reason, such as a lost route. */
  sendFailed: number;
}

export type DropReason = keyof Drops;

/** Those that a cable's impairments are the reason of. */
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

/** One direction of a cable since it was plugged in, or since its counters were set back; times in ms. */
export interface DirectionStatistics {
  milliseconds: number;
  /** Frames that wanted to pass, and those that have; a frame that was duplicated is delivered twice. */
  offered: Traffic;
  delivered: Traffic;
  dropped: Record<DirectionDropReason, number>;
  duplicated: number;
  /** Frames that were delivered behind a later one (RFC 4737), while there were impairments. */
  reordered: number;
  corrupted: number;
  /** Bits that were delivered in a millisecond, in the last second that is over. */
  kbit: number;
  /** How long the frames were held that came while there were impairments; percentiles within 6 %. */
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
  /** Held at this moment. */
  held: Traffic;
  /** Of these, what waits for a limited rate. */
  queue: Traffic;
}

/** Both directions, as the end in this process sees them. */
export interface CableStatistics {
  outgoing: DirectionStatistics;
  incoming: DirectionStatistics;
}

/** Of all ports and captures that there were since the start. */
export interface FabricTotals {
  toCable: Traffic;
  toDevice: Traffic;
  drops: Drops;
  captured: CaptureStatistics;
}

export interface PortStatistics {
  /** Frames that the device has sent into the cable, after impairments. */
  toCable: Traffic;
  /** Frames that the cable has given to the device, after impairments. */
  toDevice: Traffic;
  drops: Drops;
  /** Whether the cable's other end is a port of this process, so that frames skip the UDP hop. */
  fused: boolean;
  /** Interfaces of the port that are down or gone. */
  interfaces: InterfaceChange[];
  /** Frames held by a delay at this moment. */
  delayed: number;
  /** Of the capture that runs. */
  capture: CaptureStatistics | undefined;
}
