// The hub: what one port hears, all others say.

import { type Attachment, MemoryDevice } from './memory-device.ts';

export class Hub extends MemoryDevice<'hub'> {
  readonly answers = {};

  configure(): void {}

  hear(): void {}

  protected forward(from: Attachment, slot: number, length: number): void {
    for (const attachment of this.attachments) {
      if (attachment !== from) attachment.port.fromDevice(slot, length);
    }
  }
}
