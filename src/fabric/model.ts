// What can be plugged together: the words that both threads of the fabric use.

/** A UDP socket of this host and the one peer that it hears and sends to. */
export interface UdpAddress {
  localPort: number;
  /** IP literal; `0.0.0.0` and `::` are this host. */
  remoteHost: string;
  remotePort: number;
}

/** The NIO of the API: a UDP socket on all addresses of this host, or nothing at the other end. */
export type Cable = ({ kind: 'udp' } & UdpAddress) | { kind: 'null' };

/** The kinds of device in memory. */
export interface DeviceKinds {
  /** Floods a frame that one of its ports hears to all others. */
  hub: { settings: Record<never, never>; answers: Record<never, never>; input: never; output: never };
}

export type DeviceKind = keyof DeviceKinds;
/** What a device of the kind is made with, and may be given anew at any time. */
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

/** Why frames did not arrive. */
export interface Drops {
  /** Sent by the device while the port had no cable. */
  noCable: number;
  /** Came from the cable while the port had no device. */
  noDevice: number;
  frequencyDrop: number;
  packetLoss: number;
  packetFilters: number;
  /** The delay's queue was full. */
  delayQueue: number;
  /** The queue of the device in memory was full: a loop, or more than this host can move. */
  deviceQueue: number;
  /** Packets without a byte. */
  empty: number;
  /** The socket's receive queue was full: more came than this host can move. */
  receiveQueue: number;
  /** Longer than a UDP packet can be (65,507 bytes over IPv4). */
  tooLong: number;
  /** The socket's send queue was full. */
  sendQueue: number;
  /** Refused by the system for another reason, such as a lost route. */
  sendFailed: number;
}

export type DropReason = keyof Drops;

export interface Traffic {
  frames: number;
  bytes: number;
}

export interface PortStatistics {
  /** Frames that the device has sent into the cable, after impairments. */
  toCable: Traffic;
  /** Frames that the cable has given to the device, after impairments. */
  toDevice: Traffic;
  drops: Drops;
  /** Whether the cable's other end is a port of this process, so that frames skip the UDP hop. */
  fused: boolean;
  /** Frames held by a delay at this moment. */
  delayed: number;
  /** Frames that passed, but for which a slow disk left no room in the capture; since the capture's start. */
  captureDrops: number;
}
