// The hub: sends each frame to all other ports.

import { type Attachment, type DeviceSurroundings, MemoryDevice } from './memory-device.ts';
import type { PlainDeviceFacts } from './plain-routes.ts';

export class Hub extends MemoryDevice<'hub'> {
  readonly answers = {};

  constructor(surroundings: DeviceSurroundings<'hub'>) {
    super(surroundings);
    this.enters();
  }

  override plain(): PlainDeviceFacts {
    const seats: PlainDeviceFacts['seats'][number][] = [];
    for (const { seat, port } of this.attachments) seats[seat] = { entry: port.fromDeviceEntry, vlan: 0 };
    return { kind: 'hub', ageing: 0, seats: Array.from(seats) };
  }

  override opposite(attachment: Attachment): Attachment | undefined {
    return this.attachments.length === 2 ? this.attachments[1 - attachment.index] : undefined;
  }

  configure(): void {}

  protected forward(from: Attachment, slot: number, length: number): void {
    for (const attachment of this.attachments) {
      if (attachment !== from) attachment.port.fromDevice(slot, length);
    }
  }
}
