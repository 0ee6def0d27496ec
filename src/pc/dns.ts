// The DNS resolver (RFC 1035).

import type { Host } from './host.ts';
import { type Job, until } from './job.ts';

const PORT = 53;
const TRIES = 2;
const TRY_MS = 1500;
const HEADER_BYTES = 12;
export const RECORD = { A: 1, AAAA: 28 } as const;
const CLASS_IN = 1;
const RECURSION_DESIRED = 0x0100;
const RESPONSE = 0x8000;
const POINTERS = 16;

/** A name of labels that fit, undefined otherwise. */
function encodeName(name: string): Buffer | undefined {
  const labels = name.replace(/\.$/, '').split('.');
  const parts = labels.map((label) => Buffer.from(label, 'latin1'));
  const total = parts.reduce((sum, part) => sum + part.length + 1, 1);
  if (total > 255 || parts.some((part) => part.length === 0 || part.length > 63)) return undefined;
  return Buffer.concat([...parts.flatMap((part) => [Buffer.from([part.length]), part]), Buffer.alloc(1)]);
}

export function dnsQuery(identifier: number, name: string, type: number): Buffer | undefined {
  const encoded = encodeName(name);
  if (encoded === undefined) return undefined;
  const query = Buffer.concat([Buffer.alloc(HEADER_BYTES), encoded, Buffer.alloc(4)]);
  query.writeUInt16BE(identifier, 0);
  query.writeUInt16BE(RECURSION_DESIRED, 2);
  query.writeUInt16BE(1, 4);
  query.writeUInt16BE(type, query.length - 4);
  query.writeUInt16BE(CLASS_IN, query.length - 2);
  return query;
}

/** The place behind a name, -1 if the message is damaged. */
function skipName(message: Buffer, start: number): number {
  let at = start;
  for (let labels = 0; labels < 128 && at < message.length; labels++) {
    const length = message[at]!;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += length + 1;
  }
  return -1;
}

/** The first address of the type in an answer; undefined without one, `other` if it answers another question. */
export function dnsAnswer(message: Buffer, identifier: number, type: number): Buffer | undefined | 'other' {
  if (message.length < HEADER_BYTES || message.readUInt16BE(0) !== identifier) return 'other';
  const flags = message.readUInt16BE(2);
  if ((flags & RESPONSE) === 0) return 'other';
  if ((flags & 15) !== 0) return undefined;
  let at = HEADER_BYTES;
  for (let question = 0; question < Math.min(message.readUInt16BE(4), POINTERS); question++) {
    const end = skipName(message, at);
    if (end < 0) return undefined;
    at = end + 4;
  }
  for (let record = 0; record < message.readUInt16BE(6); record++) {
    const body = skipName(message, at);
    if (body < 0 || body + 10 > message.length) return undefined;
    const length = message.readUInt16BE(body + 8);
    at = body + 10 + length;
    const bytes = message.subarray(body + 10, at);
    const fits = bytes.length === (type === RECORD.A ? 4 : 16) && bytes.length === length;
    if (message.readUInt16BE(body) === type && fits) return Buffer.from(bytes);
  }
  return undefined;
}

function* ask(host: Host, server: Buffer, name: string, type: number): Job<Buffer | undefined> {
  const identifier = Math.floor(Math.random() * 0x1_0000);
  const query = dnsQuery(identifier, name, type);
  if (query === undefined) return undefined;
  const port = host.freePort();
  for (let tried = 0; tried < TRIES; tried++) {
    const answer = yield* until<Buffer | undefined | 'silence'>((resume) => {
      const close = host.udp.open(port, ({ source, port: from, data }) => {
        if (from !== PORT || !source.equals(server)) return;
        const found = dnsAnswer(data, identifier, type);
        if (found !== 'other') end(found);
      });
      const timer = host.timers.after(TRY_MS, () => end('silence'));
      const stop = (): void => {
        close();
        timer.stop();
      };
      const end = (result: Buffer | undefined | 'silence'): void => {
        stop();
        resume(result);
      };
      host.udp.send({ destination: server, from: port, to: PORT, data: query });
      return stop;
    });
    if (answer !== 'silence') return answer;
  }
  return undefined;
}

/** The address of a name: IPv4 before IPv6, and the name with the domain before the name alone. */
export function* resolveName(
  host: Host,
  name: string,
  { servers, domain }: { servers: readonly Buffer[]; domain: string },
): Job<Buffer | undefined> {
  const names = name.includes('.') || domain === '' ? [name] : [`${name}.${domain}`, name];
  for (const server of servers) {
    for (const candidate of names) {
      for (const type of [RECORD.A, RECORD.AAAA]) {
        const address = yield* ask(host, server, candidate, type);
        if (address !== undefined) return address;
      }
    }
  }
  return undefined;
}
