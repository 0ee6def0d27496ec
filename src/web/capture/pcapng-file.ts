// Frames of several captures as one file of pcapng, with an interface for each of them and each of its kinds of frames.
import type { Clock, Frame } from './frames.ts';

const [SECTION, INTERFACE, ENHANCED_PACKET] = [0x0a0d0d0a, 1, 6];
const BYTE_ORDER = 0x1a2b3c4d;
const NO_LENGTH = 0xffff_ffff;
const [NAME_OPTION, RESOLUTION_OPTION] = [2, 9];
const NANOSECONDS = 9;

/** A block: type, length, content filled up to whole words, length. */
function block(type: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = 12 + padded(content.length);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, type, true);
  view.setUint32(4, length, true);
  bytes.set(content, 8);
  view.setUint32(length - 4, length, true);
  return bytes;
}

function padded(length: number): number {
  return (length + 3) & ~3;
}

function words(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value, true);
  return new Uint8Array(view.buffer);
}

function option(code: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4 + padded(value.length));
  bytes.set(words(code | (value.length << 16)));
  bytes.set(value, 4);
  return bytes;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** In the order in which the frames are given. `names` are those of the captures, `clock` is what the frames' times count from. */
export function pcapngOf(
  frames: Iterable<Frame>,
  names: readonly string[],
  { second = 0 }: Clock,
): Uint8Array<ArrayBuffer>[] {
  const blocks = [block(SECTION, words(BYTE_ORDER, 1, NO_LENGTH, NO_LENGTH))];
  const interfaces = new Map<string, number>();
  const begin = BigInt(second) * 1_000_000_000n;
  for (const { source, link, time, length, bytes } of frames) {
    const key = `${source} ${link}`;
    let number = interfaces.get(key);
    if (number === undefined) {
      number = interfaces.size;
      interfaces.set(key, number);
      const name = option(NAME_OPTION, new TextEncoder().encode(names[source] ?? ''));
      const resolution = option(RESOLUTION_OPTION, Uint8Array.of(NANOSECONDS));
      blocks.push(block(INTERFACE, joined(words(link, 0), name, resolution, words(0))));
    }
    const at = begin + BigInt(Math.round(time));
    const head = words(number, Number(at >> 32n), Number(at & 0xffff_ffffn), bytes.length, length);
    blocks.push(block(ENHANCED_PACKET, joined(head, bytes)));
  }
  return blocks;
}
