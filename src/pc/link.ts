// The PC's one Ethernet interface.

export const ETHERTYPE = { ipv4: 0x0800, arp: 0x0806, ipv6: 0x86dd } as const;

export const ETHERNET_HEADER_BYTES = 14;
/** Without its check sequence a frame has 60 bytes at least. */
const SHORTEST_FRAME_BYTES = 60;
/** The largest packet that a frame here carries, whatever MTU the user sets. */
export const LARGEST_PACKET_BYTES = 9000;

export class Link {
  readonly mac: Buffer;
  readonly #transmit: (frame: Buffer) => void;
  /** Sees every frame that is sent or taken; for `set dump`. */
  watcher: ((frame: Buffer, sent: boolean) => void) | undefined;

  /** `transmit` is given frames that are its own to keep. */
  constructor(mac: Buffer, transmit: (frame: Buffer) => void) {
    this.mac = mac;
    this.#transmit = transmit;
  }

  send(destination: Buffer, ethertype: number, packet: Buffer): void {
    const frame = Buffer.alloc(Math.max(SHORTEST_FRAME_BYTES, ETHERNET_HEADER_BYTES + packet.length));
    destination.copy(frame);
    this.mac.copy(frame, 6);
    frame.writeUInt16BE(ethertype, 12);
    packet.copy(frame, ETHERNET_HEADER_BYTES);
    this.watcher?.(frame, true);
    this.#transmit(frame);
  }

  /** Whether the frame is for this interface: sent to it, to all, or to a group, and not its own. */
  accepts(frame: Buffer): boolean {
    if (frame.length < ETHERNET_HEADER_BYTES) return false;
    if ((frame[0]! & 1) === 0) return frame.compare(this.mac, 0, 6, 0, 6) === 0;
    return frame.compare(this.mac, 0, 6, 6, 12) !== 0;
  }
}
