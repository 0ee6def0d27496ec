// The NAT network's switch: connects NAT nodes with each other and the host, and passes frames for its services to the main thread.

import type { DeviceKinds } from '../model.ts';
import { type Attachment, MemoryDevice } from './memory-device.ts';

/** The host's port; all others are nodes'. */
const UPLINK = 0;
/** Maximum learned addresses; the oldest is forgotten, and frames to it are flooded. */
const MOST_ADDRESSES = 1024;
/** Frames for the main thread, at once and per second; the rest is dropped. */
const BURST_FRAMES = 64;
const FRAMES_PER_SECOND = 256;

const TYPE_IPV4 = 0x0800;
const TYPE_ARP = 0x0806;
const ARP_REPLY = 2;
const PROTOCOL_UDP = 17;
const DHCP_SERVER_PORT = 67;

/** A MAC address as a number. */
function addressAt(frame: Buffer, offset: number): number {
  return frame.readUIntBE(offset, 6);
}

/** Whether the frame is a DHCP request to any server. */
function asksForDhcp(frame: Buffer, length: number): boolean {
  if (length < 42 || frame.readUInt16BE(12) !== TYPE_IPV4 || frame[23] !== PROTOCOL_UDP) return false;
  const at = 14 + (frame[14]! & 15) * 4;
  return at + 8 <= length && frame.readUInt16BE(at + 2) === DHCP_SERVER_PORT;
}

function isArpReply(frame: Buffer, length: number): boolean {
  return length >= 42 && frame.readUInt16BE(12) === TYPE_ARP && frame.readUInt16BE(20) === ARP_REPLY;
}

export class NatNetwork extends MemoryDevice<'nat'> {
  readonly answers = {};
  readonly #known = new Map<number, Attachment>();
  #service = 0;
  #gateway = 0;
  #credit = BURST_FRAMES;
  #counted = 0;

  configure({ service, gateway }: DeviceKinds['nat']['settings']): void {
    this.#service = Number.parseInt(service, 16);
    this.#gateway = Number.parseInt(gateway, 16);
  }

  /** A frame from the services, sent to the node with its destination address or to all. */
  override hear(frame: Uint8Array): void {
    const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.length);
    const to = this.#known.get(addressAt(bytes, 0));
    for (const attachment of this.attachments) {
      if (attachment === to || (to === undefined && attachment.number !== UPLINK)) this.emit(attachment, bytes);
    }
  }

  protected override detached(attachment: Attachment): void {
    for (const [address, at] of this.#known) if (at === attachment) this.#known.delete(address);
  }

  protected forward(from: Attachment, slot: number, length: number): void {
    if (length < 14) return;
    const frame = this.plane.calls.slots[slot]!;
    const destination = addressAt(frame, 0);
    if (from.number !== UPLINK) {
      this.#learn(addressAt(frame, 6), from);
      const asked = asksForDhcp(frame, length);
      if (asked || destination === this.#service) {
        if (asked || isArpReply(frame, length)) this.#pass(frame, length);
        return;
      }
    }
    const to = this.#known.get(destination);
    const forHost = destination === this.#gateway;
    for (const attachment of this.attachments) {
      const fits = forHost ? attachment.number === UPLINK : to === undefined || attachment === to;
      if (fits && attachment !== from) attachment.port.fromDevice(slot, length);
    }
  }

  #learn(address: number, at: Attachment): void {
    // The lowest bit of the first byte marks a group address, which is no valid sender.
    if (this.#known.get(address) === at || Math.floor(address / 2 ** 40) % 2 === 1) return;
    this.#known.delete(address);
    const [oldest] = this.#known.size < MOST_ADDRESSES ? [] : this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(address, at);
  }

  /** Passes the frame to the main thread, unless there were too many. */
  #pass(frame: Buffer, length: number): void {
    const now = performance.now();
    this.#credit = Math.min(BURST_FRAMES, this.#credit + ((now - this.#counted) * FRAMES_PER_SECOND) / 1000);
    this.#counted = now;
    if (this.#credit < 1) return;
    this.#credit--;
    this.tell(Uint8Array.from(frame.subarray(0, length)));
  }
}
