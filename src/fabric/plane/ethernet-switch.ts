// The Ethernet switch: learns addresses, separates VLANs, adds and removes tags.

import type { MacTableEntry, Settings, SwitchPortSettings } from '../model.ts';
import type { KernelSeat, KernelSwitch } from './kernel-stations.ts';
import { type MacEntry, MacTable } from './mac-table.ts';
import { type Attachment, type DeviceSurroundings, MemoryDevice } from './memory-device.ts';
import type { PlainDeviceFacts } from './plain-routes.ts';

/** Two addresses and a type (IEEE 802.3). */
const HEADER_BYTES = 14;
const ADDRESSES_BYTES = 12;
/** EtherType and tag control information: 3 bits priority, 1 bit drop eligible, 12 bits VLAN (IEEE 802.1Q, 9.6). */
const TAG_BYTES = 4;
const CUSTOMER_TAG = 0x8100;
const PRIORITY_MASK = 0xf000;
const VLAN_MASK = 0xfff;
/** The highest usable VLAN; 4095 is reserved (IEEE 802.1Q, table 9-2). */
const HIGHEST_VLAN = 4094;
/** The longest frame that a socket can send. */
const LONGEST_FRAME_BYTES = 65_535;

/** Least time between two reports that the table is full. */
const TELL_MS = 60_000;

/** Settings of a port until it is configured: access port of VLAN 1. */
const UNSET: Omit<SwitchPortSettings, 'number'> = { type: 'access', vlan: 1, etherType: CUSTOMER_TAG };

interface SwitchPort extends Omit<SwitchPortSettings, 'number'> {
  attachment: Attachment;
}

export class EthernetSwitch extends MemoryDevice<'ethernet-switch'> implements KernelSwitch {
  readonly answers = { macTable: () => this.#entries() };
  readonly #table = new MacTable(
    0,
    ({ columns, buckets }) => {
      this.plane.routes?.moveAddresses(this.number, columns, buckets);
      this.plane.kernelLinks?.stations.forgotten(this);
    },
    (vlan, high, low) => this.plane.kernelLinks?.stations.learned(this, vlan, high, low),
  );
  /** By seat. */
  readonly #ports: (SwitchPort | undefined)[] = [];
  #settings = new Map<number, SwitchPortSettings>();
  /** Tag EtherTypes recognized on trunks. */
  #tagTypes: number[] = [CUSTOMER_TAG];
  /** When a full table was last reported. */
  #told = -Infinity;
  // Slots of the current frame without and with a tag; -1 if not made yet.
  #plainSlot = -1;
  #plainLength = 0;
  #taggedSlot = -1;
  #taggedLength = 0;

  constructor(surroundings: DeviceSurroundings<'ethernet-switch'>) {
    super(surroundings);
    this.enters();
  }

  /** Untagged frames between known addresses are handled alike on access ports and trunks. */
  override plain(): PlainDeviceFacts {
    const seats = this.#ports.map((port) => {
      if (port === undefined) return undefined;
      const { attachment, type, vlan } = port;
      return { entry: attachment.port.fromDeviceEntry, vlan: type === 'qinq' ? -1 : vlan };
    });
    const { ageing, columns, buckets } = this.#table;
    return { kind: 'switch', ageing, seats: Array.from(seats), addresses: { columns, buckets } };
  }

  get ageing(): number {
    return this.#table.ageing;
  }

  addresses(now: number): MacEntry[] {
    return this.#table.entries(now);
  }

  address(vlan: number, high: number, low: number, now: number): MacEntry | undefined {
    return this.#table.entry(vlan, high, low, now);
  }

  seen(vlan: number, high: number, low: number, at: number): number {
    return this.#table.refresh(vlan, high, low, at);
  }

  tags(seat: number, vlan: number): boolean {
    return this.#ports[seat]!.vlan !== vlan;
  }

  /** Undefined for a tunnel, which adds a tag to all frames. */
  override kernelSeat(seat: number): KernelSeat | undefined {
    const { type, vlan } = this.#ports[seat]!;
    return type === 'qinq' ? undefined : { device: this, seat, vlan, isTrunk: type === 'dot1q' };
  }

  configure({ ports, ageing }: Settings<'ethernet-switch'>): void {
    this.#table.ageing = ageing;
    this.#settings = new Map(ports.map((port) => [port.number, port]));
    const tunnels = ports.filter(({ type }) => type === 'qinq').map(({ etherType }) => etherType);
    this.#tagTypes = [...new Set([CUSTOMER_TAG, ...tunnels])];
    const changed = new Set<number>();
    for (const [seat, port] of this.#ports.entries()) {
      if (port === undefined) continue;
      const { type, vlan, etherType } = this.#settings.get(port.attachment.number) ?? UNSET;
      if (port.type !== type || port.vlan !== vlan) changed.add(seat);
      Object.assign(port, { type, vlan, etherType });
    }
    if (changed.size > 0) this.#table.keep(({ seat }) => !changed.has(seat));
  }

  /** Forgets the addresses. */
  override hear(): void {
    this.#table.keep(() => false);
  }

  protected override attached(attachment: Attachment): void {
    const { type, vlan, etherType } = this.#settings.get(attachment.number) ?? UNSET;
    this.#ports[attachment.seat] = { attachment, type, vlan, etherType };
  }

  protected override detached({ seat: gone }: Attachment): void {
    this.#ports[gone] = undefined;
    this.#table.keep(({ seat }) => seat !== gone);
  }

  /** A frame with a priority tag may be made both with and without a tag. */
  protected override get slotsNeeded(): number {
    return 2;
  }

  protected forward(from: Attachment, slot: number, length: number): void {
    const { drops } = from.port;
    if (length < HEADER_BYTES) {
      drops.runt++;
      return;
    }
    const frame = this.plane.calls.slots[slot]!;
    const port = this.#ports[from.seat]!;
    let vlan = port.vlan;
    let tagType = CUSTOMER_TAG;
    let priority = 0;
    this.#plainSlot = slot;
    this.#plainLength = length;
    this.#taggedSlot = -1;
    if (port.type === 'qinq') {
      tagType = port.etherType;
    } else {
      const type = (frame[12]! << 8) | frame[13]!;
      if (port.type === 'dot1q' ? this.#tagTypes.includes(type) : type === CUSTOMER_TAG) {
        if (length < HEADER_BYTES + TAG_BYTES) {
          drops.runt++;
          return;
        }
        const control = (frame[14]! << 8) | frame[15]!;
        const named = control & VLAN_MASK;
        // VLAN 0: the tag only carries the priority.
        if (named > HIGHEST_VLAN || (named > 0 && port.type === 'access')) {
          drops.wrongTag++;
          return;
        }
        priority = control & PRIORITY_MASK;
        this.#plainSlot = -1;
        if (named > 0) {
          vlan = named;
          this.#taggedSlot = slot;
          this.#taggedLength = length;
        }
      }
    }
    const now = this.plane.now;
    this.#learn(vlan, frame, from.seat, now);
    // The lowest bit of the first byte marks a group address: broadcast or multicast.
    const known = (frame[0]! & 1) === 1 ? -1 : this.#table.find(vlan, word16(frame, 0), word32(frame, 2), now);
    if (known === from.seat) return; // already learned there
    if (known !== -1) {
      this.#give(this.#ports[known]!, vlan, slot, length, tagType, priority);
      return;
    }
    for (const attachment of this.attachments) {
      if (attachment !== from) this.#give(this.#ports[attachment.seat]!, vlan, slot, length, tagType, priority);
    }
  }

  /** Sends the frame to a port that is a member of the VLAN, with the tag that the port needs. */
  #give(to: SwitchPort, vlan: number, slot: number, length: number, tagType: number, priority: number): void {
    const { port } = to.attachment;
    if (to.vlan === vlan) {
      if (this.#plainSlot === -1) this.#makePlain(slot, length);
      port.fromDevice(this.#plainSlot, this.#plainLength);
    } else if (to.type === 'dot1q' && vlan <= HIGHEST_VLAN) {
      if (this.#taggedSlot === -1) this.#makeTagged(slot, length, tagType, priority | vlan);
      if (this.#taggedLength > LONGEST_FRAME_BYTES) port.drops.tooLong++;
      else port.fromDevice(this.#taggedSlot, this.#taggedLength);
    }
  }

  /** Makes the untagged frame. */
  #makePlain(slot: number, length: number): void {
    const { turn, calls } = this.plane;
    const frame = calls.slots[slot]!;
    this.#plainLength = length - TAG_BYTES;
    this.#plainSlot = turn.takeSpare(this.#plainLength);
    const plain = calls.slots[this.#plainSlot]!;
    frame.copy(plain, 0, 0, ADDRESSES_BYTES);
    frame.copy(plain, ADDRESSES_BYTES, ADDRESSES_BYTES + TAG_BYTES, length);
  }

  /** Makes the tagged frame; the tag replaces a priority tag. */
  #makeTagged(slot: number, length: number, tagType: number, control: number): void {
    const { turn, calls } = this.plane;
    const frame = calls.slots[slot]!;
    const bare = this.#plainSlot === slot;
    this.#taggedLength = bare ? length + TAG_BYTES : length;
    if (this.#taggedLength > LONGEST_FRAME_BYTES) return;
    this.#taggedSlot = turn.takeSpare(this.#taggedLength);
    const tagged = calls.slots[this.#taggedSlot]!;
    frame.copy(tagged, 0, 0, ADDRESSES_BYTES);
    tagged[12] = tagType >> 8;
    tagged[13] = tagType & 0xff;
    tagged[14] = control >> 8;
    tagged[15] = control & 0xff;
    frame.copy(tagged, ADDRESSES_BYTES + TAG_BYTES, bare ? ADDRESSES_BYTES : ADDRESSES_BYTES + TAG_BYTES, length);
  }

  #learn(vlan: number, frame: Buffer, seat: number, now: number): void {
    // A group address or all zeros is no valid sender.
    if ((frame[6]! & 1) === 1) return;
    const high = word16(frame, 6);
    const low = word32(frame, 8);
    if (high === 0 && low === 0) return;
    if (this.#table.learn(vlan, high, low, seat, now) || now - this.#told < TELL_MS) return;
    this.#told = now;
    this.tell({ kind: 'mac-table-full' });
  }

  #entries(): MacTableEntry[] {
    this.plane.kernelLinks?.stations.refresh(this);
    const now = performance.now();
    return this.#table.entries(now).map(({ vlan, high, low, seat, heard }) => ({
      vlan,
      address: high * 2 ** 32 + low,
      port: this.#ports[seat]!.attachment.number,
      age: Math.max(0, now - heard),
    }));
  }
}

function word16(bytes: Buffer, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

function word32(bytes: Buffer, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
