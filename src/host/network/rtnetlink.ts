// Messages of rtnetlink(7), and what the kernel answers: in this process, so the daemon's capabilities suffice and no program
// is needed.

import { conflict, forbidden } from '../../failures.ts';
import { capabilityFix } from '../processes/capabilities.ts';
import { NETLINK_HEADER_BYTES, netlinkRequest, SystemError } from '../system-calls.ts';

// linux/netlink.h
const NLM_F_REQUEST = 0x001;
export const NLM_F_ACK = 0x004;
export const NLM_F_EXCL = 0x200;
export const NLM_F_DUMP = 0x300;
export const NLM_F_CREATE = 0x400;
const ATTRIBUTE_HEADER_BYTES = 4;

export function attribute(type: number, value: Buffer): Buffer {
  const length = ATTRIBUTE_HEADER_BYTES + value.length;
  const bytes = Buffer.alloc((length + 3) & ~3);
  bytes.writeUInt16LE(length, 0);
  bytes.writeUInt16LE(type, 2);
  value.copy(bytes, ATTRIBUTE_HEADER_BYTES);
  return bytes;
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function text(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

/** The attributes behind `offset`, by type. */
export function attributesOf(message: Buffer, offset: number): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = offset; at + ATTRIBUTE_HEADER_BYTES <= message.length; ) {
    const length = message.readUInt16LE(at);
    if (length < ATTRIBUTE_HEADER_BYTES) break;
    // The upper bits are the attribute's encoding.
    found.set(message.readUInt16LE(at + 2) & 0x3fff, message.subarray(at + ATTRIBUTE_HEADER_BYTES, at + length));
    at += (length + 3) & ~3;
  }
  return found;
}

export function request(name: string, type: number, flags: number, ...parts: Buffer[]): Buffer[] {
  return netlinkRequest(name, requestMessage(type, flags, ...parts));
}

export function requestMessage(type: number, flags: number, ...parts: Buffer[]): Buffer {
  const header = Buffer.alloc(NETLINK_HEADER_BYTES);
  const message = Buffer.concat([header, ...parts]);
  message.writeUInt32LE(message.length, 0);
  message.writeUInt16LE(type, 4);
  message.writeUInt16LE(NLM_F_REQUEST | flags, 6);
  return message;
}

export function stringOf(value: Buffer | undefined): string {
  return value?.toString('latin1').replace(/\0.*/s, '') ?? '';
}

/** Runs a change and explains a failure in words. */
export function change<Result>(what: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const details = { cause: error };
    if (error.code === 'EPERM') {
      throw forbidden(`To ${what} needs CAP_NET_ADMIN: ${capabilityFix('CAP_NET_ADMIN')}`, details);
    }
    if (error.code === 'EEXIST') throw conflict(`Cannot ${what}: it is there already`, details);
    throw conflict(`Cannot ${what}: ${error.message}`, details);
  }
}
