// Ethernet frames for the tests of switches.

/** `02:00:00:00:00:01` for 1. */
export function mac(number: number): string {
  return `02:00:00:00:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 0xff).toString(16).padStart(2, '0')}`;
}

export const BROADCAST = 'ff:ff:ff:ff:ff:ff';

export interface Tag {
  vlan: number;
  /** 0x8100 when not given. */
  type?: number;
  /** 0 when not given. */
  priority?: number;
}

/** A frame with a type of its own (IEEE 802: local experimental) behind its tags. */
export function frame(to: string, from: string, payload: string, ...tags: Tag[]): Buffer {
  const address = (text: string): Buffer => Buffer.from(text.replaceAll(':', ''), 'hex');
  const words = tags.flatMap(({ vlan, type = 0x8100, priority = 0 }) => [type, (priority << 13) | vlan]);
  const type = Buffer.alloc(2 * words.length + 2);
  for (const [index, word] of [...words, 0x88b5].entries()) type.writeUInt16BE(word, 2 * index);
  return Buffer.concat([address(to), address(from), type, Buffer.from(payload)]);
}
