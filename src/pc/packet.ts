// Packets of both IP versions, as the higher protocols use them.

export const PROTOCOL = { icmp: 1, tcp: 6, udp: 17, fragment: 44, icmpv6: 58, none: 59 } as const;

export const DEFAULT_TTL = 64;

/** A packet that has arrived; its buffers are good until the call returns. */
export interface Arrived {
  readonly source: Buffer;
  readonly destination: Buffer;
  readonly protocol: number;
  readonly ttl: number;
  readonly payload: Buffer;
  /** The packet with its header, for those who quote it. */
  readonly whole: Buffer;
  /** Where the frame came from. */
  readonly mac: Buffer;
  /** Sent to this host alone, not to a group. */
  readonly direct: boolean;
}

/** A packet to be sent. */
export interface Departing {
  readonly destination: Buffer;
  readonly protocol: number;
  readonly payload: Buffer;
  /** The host's address that suits the destination, if absent. */
  readonly source?: Buffer;
  readonly ttl?: number;
  readonly dontFragment?: boolean;
  /** MAC address of the next hop, when it is known: answers go back where the question came from. */
  readonly mac?: Buffer;
}

/** An ICMP error about a packet. */
export interface PacketError {
  /** The sender of the error. */
  readonly source: Buffer;
  readonly ttl: number;
  readonly type: number;
  readonly code: number;
  /** Of the packet that it is about. */
  readonly destination: Buffer;
  readonly protocol: number;
  /** The start of the packet's payload, at least 8 bytes. */
  readonly quoted: Buffer;
}

/** An answer to an echo request. */
export interface EchoReply {
  readonly source: Buffer;
  readonly ttl: number;
  readonly identifier: number;
  readonly sequence: number;
  readonly bytes: number;
}

/** IP as the higher protocols use it. */
export interface Network {
  /** Sends a packet as soon as the next hop's MAC address is known. False if it cannot be: there is no route, or no fragmenting a packet that is too long. */
  send(packet: Departing): boolean;
  /** The host's address that suits a destination. */
  sourceFor(destination: Buffer): Buffer | undefined;
}
