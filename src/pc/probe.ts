// One probe and its result: the packets of `ping` and `trace`.

import { familyOf } from './address.ts';
import type { Host } from './host.ts';
import { type Job, until } from './job.ts';
import { type PacketError, PROTOCOL } from './packet.ts';
import { FLAG, type Segment } from './tcp-segment.ts';

export interface Answer {
  kind: 'reply' | 'error';
  source: Buffer;
  ttl: number;
  milliseconds: number;
  /** Of an error: ICMP's type and code. */
  type: number;
  code: number;
  /** Of a TCP answer. */
  segment?: Segment;
  /** Of a reply: bytes of the message with its header. */
  bytes: number;
}

export interface Probe {
  host: Host;
  destination: Buffer;
  ttl: number;
  dontFragment: boolean;
  milliseconds: number;
}

type Heard = Omit<Answer, 'milliseconds'>;

/** After `send`, waits for the answer from `listen`, or an error about packets of `isOurs`. Undefined on timeout. */
function* exchange(
  { host, destination, milliseconds }: Probe,
  isOurs: (error: PacketError) => boolean,
  listen: (heard: (answer: Heard) => void) => () => void,
  send: () => boolean,
): Job<Answer | undefined | 'not sent'> {
  const { timers, icmp } = host;
  return yield* until<Answer | undefined | 'not sent'>((resume) => {
    const started = timers.now();
    const end = (result: Answer | undefined | 'not sent'): void => {
      stop();
      resume(result);
    };
    const heard = (answer: Heard): void => end({ ...answer, milliseconds: timers.now() - started });
    const onError = (error: PacketError): void => {
      if (!error.destination.equals(destination) || !isOurs(error)) return;
      const { ttl, type, code } = error;
      heard({ kind: 'error', source: Buffer.from(error.source), ttl, type, code, bytes: 0 });
    };
    const close = listen(heard);
    icmp.errorListeners.add(onError);
    const timer = timers.after(milliseconds, () => end(undefined));
    const stop = (): void => {
      close();
      timer.stop();
      icmp.errorListeners.delete(onError);
    };
    if (!send()) end('not sent');
    return stop;
  });
}

export function* echoProbe(
  probe: Probe,
  { identifier, sequence, data }: { identifier: number; sequence: number; data: Buffer },
): Job<Answer | undefined | 'not sent'> {
  const { host, destination } = probe;
  const protocol = familyOf(destination) === 4 ? PROTOCOL.icmp : PROTOCOL.icmpv6;
  const isOurs = ({ protocol: quoted, quoted: bytes }: PacketError): boolean =>
    quoted === protocol && bytes.readUInt16BE(4) === identifier && bytes.readUInt16BE(6) === (sequence & 0xffff);
  return yield* exchange(
    probe,
    isOurs,
    (heard) => {
      const listener = (reply: {
        source: Buffer;
        ttl: number;
        identifier: number;
        sequence: number;
        bytes: number;
      }): void => {
        if (reply.identifier !== identifier || reply.sequence !== (sequence & 0xffff)) return;
        if (!reply.source.equals(destination)) return;
        const { ttl, bytes } = reply;
        heard({ kind: 'reply', source: destination, ttl, type: 0, code: 0, bytes });
      };
      host.icmp.replyListeners.add(listener);
      return () => void host.icmp.replyListeners.delete(listener);
    },
    () => host.icmp.request(destination, { ...probe, identifier, sequence: sequence & 0xffff, data }),
  );
}

function isFrom(error: PacketError, protocol: number, from: number, to: number): boolean {
  const { quoted } = error;
  return error.protocol === protocol && quoted.readUInt16BE(0) === from && quoted.readUInt16BE(2) === to;
}

export function* udpProbe(
  probe: Probe,
  { from, to, data }: { from: number; to: number; data: Buffer },
): Job<Answer | undefined | 'not sent'> {
  const { host, destination, ttl, dontFragment } = probe;
  return yield* exchange(
    probe,
    (error) => isFrom(error, PROTOCOL.udp, from, to),
    (heard) =>
      host.udp.open(from, (datagram) => {
        if (datagram.port !== to || !datagram.source.equals(destination)) return;
        const bytes = datagram.data.length + 8;
        heard({ kind: 'reply', source: destination, ttl: datagram.ttl, type: 0, code: 0, bytes });
      }),
    () => host.udp.send({ destination, ttl, dontFragment, from, to, data }),
  );
}

/** Sends a segment and waits for the next one that `fits`, or for a reset. */
export function* tcpProbe(
  probe: Probe,
  segments: readonly Segment[],
  fits: (segment: Segment) => boolean,
): Job<Answer | undefined | 'not sent'> {
  const { host, destination, ttl, dontFragment } = probe;
  const { from, to } = segments[0]!;
  return yield* exchange(
    probe,
    (error) => isFrom(error, PROTOCOL.tcp, from, to),
    (heard) =>
      host.tcp.open(from, ({ source, ttl: hops, segment }) => {
        if (segment.from !== to || !source.equals(destination)) return;
        if ((segment.flags & FLAG.rst) === 0 && !fits(segment)) return;
        const copy = { ...segment, data: Buffer.from(segment.data) };
        const bytes = segment.data.length + 20;
        heard({ kind: 'reply', source: destination, ttl: hops, type: 0, code: 0, segment: copy, bytes });
      }),
    () => segments.map((segment) => host.tcp.send(segment, { destination, ttl, dontFragment })).every(Boolean),
  );
}

const UNREACHABLE = [
  'Destination network unreachable',
  'Destination host unreachable',
  'Destination protocol unreachable',
  'Destination port unreachable',
  'Fragmentation required, and DF flag set',
  'Source route failed',
  'Destination network unknown',
  'Destination host unknown',
  'Source host isolated',
  'Network administratively prohibited',
  'Host administratively prohibited',
  'Network unreachable for TOS',
  'Host unreachable for TOS',
  'Communication administratively prohibited',
];
const UNREACHABLE_6 = [
  'No route to destination',
  'Communication administratively prohibited',
  'Beyond scope of source address',
  'Address unreachable',
  'Port unreachable',
];

/** `ICMP type:3, code:1, Destination host unreachable` */
export function describeError({ source, type, code }: Answer): string {
  const isFour = familyOf(source) === 4;
  const texts: Record<number, readonly string[]> = isFour
    ? { 3: UNREACHABLE, 11: ['TTL expired in transit', 'Fragment reassembly time exceeded'] }
    : { 1: UNREACHABLE_6, 2: ['Packet too big'], 3: ['Hop limit exceeded in transit'] };
  const text = texts[type]?.[code];
  return `ICMP type:${type}, code:${code}${text === undefined ? '' : `, ${text}`}`;
}

/** Whether the error means that the packet arrived at a closed port. */
export function isPortUnreachable({ source, type, code }: Answer): boolean {
  return familyOf(source) === 4 ? type === 3 && code === 3 : type === 1 && code === 4;
}
