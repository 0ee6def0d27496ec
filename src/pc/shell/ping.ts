// `ping`: echo requests over ICMP, UDP and TCP.

import { familyOf, formatAddress } from '../address.ts';
import { type Job, pause } from '../job.ts';
import { DEFAULT_TTL } from '../packet.ts';
import { type Answer, describeError, echoProbe, type Probe, tcpProbe, udpProbe } from '../probe.ts';
import { findTarget, reach } from '../target.ts';
import { FLAG, type Segment } from '../tcp-segment.ts';
import { bold, type Command, Complaint, type Surroundings } from './command.ts';
import { type OptionRules, type Options, parseNumber, parseOptions } from './options.ts';
import { resolverOf } from './resolver.ts';

const RULES: OptionRules = {
  1: 'flag',
  2: 'flag',
  3: 'flag',
  t: 'flag',
  D: 'flag',
  P: [1, 17],
  c: [1, 1_000_000],
  l: [0, 65_000],
  i: [1, 3_600_000],
  w: [1, 3_600_000],
  s: [1, 65_535],
  p: [1, 65_535],
  T: [1, 255],
  f: 'text',
};
const COUNT = 5;
const DATA_BYTES = 56;
const INTERVAL_MS = 1000;
const WAIT_MS = 1000;
const ECHO = 7;
const FLAG_LETTERS: Record<string, number> = {
  C: FLAG.cwr,
  E: FLAG.ece,
  U: FLAG.urg,
  A: FLAG.ack,
  P: FLAG.psh,
  R: FLAG.rst,
  S: FLAG.syn,
  F: FLAG.fin,
};
const NAMES = { 1: 'icmp', 6: 'tcp', 17: 'udp' } as const;
const WINDOW_BYTES = 5840;

interface Ping extends Probe {
  protocol: keyof typeof NAMES;
  from: number;
  to: number;
  data: Buffer;
  identifier: number;
  /** TCP's flags for a single segment; a whole connection, if undefined. */
  flags: number | undefined;
}

function protocolOf({ flags, numbers }: Options): keyof typeof NAMES {
  if (flags.has('3')) return 6;
  if (flags.has('2')) return 17;
  const number = flags.has('1') ? 1 : (numbers.get('P') ?? 1);
  if (number === 1 || number === 6 || number === 17) return number;
  throw new Complaint(`Invalid options: -P must be 1 (ICMP), 6 (TCP) or 17 (UDP), not ${number}`);
}

function tcpFlags(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return parseNumber(text, '-f', [0, 255]);
  let flags = 0;
  for (const letter of text.toUpperCase()) {
    const flag = FLAG_LETTERS[letter];
    if (flag === undefined) throw new Complaint(`Invalid options: -f takes letters of CEUAPRSF, not ${letter}`);
    flags |= flag;
  }
  return flags;
}

function countUp(length: number): Buffer {
  const data = Buffer.alloc(length);
  for (let at = 0; at < length; at++) data[at] = (at + 8) & 0xff;
  return data;
}

function time(answer: Answer): string {
  return `time=${answer.milliseconds.toFixed(3)} ms`;
}

function line(ping: Ping, sequence: number, answer: Answer | undefined): string {
  const six = familyOf(ping.destination) === 6 ? '6' : '';
  const numbered = `${NAMES[ping.protocol]}${six}_seq=${sequence}`;
  if (answer === undefined) return `${formatAddress(ping.destination)} ${numbered} timeout`;
  const rest = `${formatAddress(answer.source)} ${numbered} ttl=${answer.ttl} ${time(answer)}`;
  if (answer.kind === 'error') return `*${rest} (${describeError(answer)})`;
  // The length of the whole packet, as `ping` shows it for IPv4.
  return six === '' ? `${answer.bytes + 20} bytes from ${rest}` : rest;
}

function* probeOnce(ping: Ping, sequence: number): Job<Answer | undefined | 'not sent'> {
  const { from, to, data, identifier } = ping;
  if (ping.protocol === 1) return yield* echoProbe(ping, { identifier, sequence, data });
  if (ping.protocol === 17) return yield* udpProbe(ping, { from, to, data });
  const segment = { from, to, sequence: randomNumber(), acknowledgement: 0, flags: ping.flags!, window: WINDOW_BYTES };
  return yield* tcpProbe(ping, [{ ...segment, data: Buffer.alloc(0) }], () => true);
}

function randomNumber(): number {
  return Math.floor(Math.random() * 0xffff_ffff);
}

/** Opens a connection, sends the data and closes it; prints how long each took. */
function* connect(ping: Ping, pc: Surroundings, number: number): Job {
  const { from, to, data, host } = ping;
  let next: Segment = {
    from,
    to,
    sequence: randomNumber(),
    acknowledgement: 0,
    flags: FLAG.syn,
    window: WINDOW_BYTES,
    data: Buffer.alloc(0),
  };
  const name = `${to}@${formatAddress(ping.destination)}`;
  const tell = (step: string, answer: Answer | undefined | 'not sent'): answer is Answer => {
    const title = `${step.padEnd(10)}${name}`;
    if (answer === undefined || answer === 'not sent') pc.print(`${title} timeout\n`);
    else if (answer.kind === 'error') {
      pc.print(
        `*${formatAddress(answer.source)} tcp_seq=${number} ttl=${answer.ttl} ${time(answer)} (${describeError(answer)})\n`,
      );
    } else if ((answer.segment!.flags & FLAG.rst) !== 0) pc.print(`${title} RST returned\n`);
    else {
      pc.print(`${title} seq=${number} ttl=${answer.ttl} ${time(answer)}\n`);
      return true;
    }
    return false;
  };
  const reset = (): void => {
    host.tcp.send({ ...next, flags: FLAG.rst, data: Buffer.alloc(0) }, ping);
  };
  const opened = yield* tcpProbe(ping, [next], (segment) => (segment.flags & FLAG.syn) !== 0);
  if (!tell('Connect', opened)) return;
  const { segment: accepted } = opened;
  next = {
    ...next,
    sequence: (next.sequence + 1) >>> 0,
    acknowledgement: (accepted!.sequence + 1) >>> 0,
    flags: FLAG.ack,
  };
  const expected = (next.sequence + data.length) >>> 0;
  const push = { ...next, flags: FLAG.ack | FLAG.psh, data };
  const sent = yield* tcpProbe(ping, [next, push], ({ acknowledgement }) => acknowledgement === expected);
  if (!tell('SendData', sent)) {
    if (sent === undefined) reset();
    return;
  }
  // Data from the other end is accepted and ignored.
  next = { ...next, sequence: expected, flags: FLAG.ack | FLAG.fin | FLAG.psh };
  const closed = yield* tcpProbe(ping, [next], ({ acknowledgement }) => acknowledgement === (expected + 1) >>> 0);
  if (tell('Close', closed)) {
    const { sequence, data: last, flags } = closed.segment!;
    const acknowledgement = (sequence + last.length + ((flags & FLAG.fin) === 0 ? 0 : 1)) >>> 0;
    next = { ...next, sequence: (expected + 1) >>> 0, acknowledgement };
    if ((flags & FLAG.fin) !== 0) host.tcp.send({ ...next, flags: FLAG.ack }, ping);
    else reset();
  } else if (closed === undefined) reset();
}

function pingOf(pc: Surroundings, options: Options, destination: Buffer): Ping {
  const { numbers, texts, flags } = options;
  return {
    host: pc.host,
    destination,
    ttl: numbers.get('T') ?? DEFAULT_TTL,
    dontFragment: flags.has('D'),
    milliseconds: numbers.get('w') ?? WAIT_MS,
    protocol: protocolOf(options),
    from: numbers.get('s') ?? pc.host.freePort(),
    to: numbers.get('p') ?? ECHO,
    data: countUp(numbers.get('l') ?? DATA_BYTES),
    identifier: Math.floor(Math.random() * 0x1_0000),
    flags: tcpFlags(texts.get('f')),
  };
}

function* run(words: string[], pc: Surroundings): Job {
  const options = parseOptions(words, RULES);
  const [name] = options.words;
  if (name === undefined || options.words.length > 1) throw new Complaint('Invalid options');
  protocolOf(options);
  const target = yield* findTarget(pc.host, name, resolverOf(pc));
  if (typeof target === 'string') throw new Complaint(target);
  if (target.resolved) pc.print(`${name} resolved to ${formatAddress(target.address)}\n`);
  const ping = pingOf(pc, options, target.address);
  pc.print('\n');
  const isEndless = options.flags.has('t');
  const count = options.numbers.get('c') ?? COUNT;
  for (let sequence = 1; isEndless || sequence <= count; sequence++) {
    const why = yield* reach(pc.host, ping.destination);
    if (why !== undefined) throw new Complaint(why);
    // Connections of one run have ports of their own, as closed ones linger at the other end.
    const one = options.numbers.has('s') ? ping : { ...ping, from: pc.host.freePort() };
    if (ping.protocol === 6 && ping.flags === undefined) yield* connect(one, pc, sequence);
    else {
      const answer = yield* probeOnce(one, sequence);
      if (answer === 'not sent') throw new Complaint(`Cannot send ${ping.data.length} bytes: too many for one packet`);
      pc.print(`${line(ping, sequence, answer)}\n`);
    }
    if (isEndless || sequence < count) {
      const interval = options.numbers.get('i') ?? INTERVAL_MS;
      yield* pause(pc.host, interval);
    }
  }
}

export const ping: Command = {
  summary: ['<host> [-options]', 'Ask <host> for an answer, over ICMP, UDP or TCP'],
  help: `${bold('ping <host> [-options]')}
  Asks <host>, an address or a name, for answers and shows how long they took.
    -1, -2, -3     over ICMP (default), UDP or TCP
    -P <protocol>  the same by number: 1 ICMP, 17 UDP, 6 TCP
    -c <count>     packets, default 5
    -t             packets until Ctrl+C
    -i <ms>        time between packets, default 1000
    -w <ms>        time to wait for an answer, default 1000
    -l <size>      bytes of data, default 56
    -T <ttl>       hops at most, default 64
    -D             forbid routers to cut packets into fragments
    -s <port>      source port (UDP, TCP)
    -p <port>      destination port (UDP, TCP), default 7
    -f <flags>     a single TCP segment with flags of CEUAPRSF

  Names need a name server: ${bold('ip dns')}. Ctrl+C ends the command.
`,
  run,
};
