// `trace`: the routers on the way to a host.

import { familyOf, formatAddress } from '../address.ts';
import type { Job } from '../job.ts';
import { type Answer, describeError, echoProbe, isPortUnreachable, type Probe, tcpProbe, udpProbe } from '../probe.ts';
import { findTarget, reach } from '../target.ts';
import { FLAG } from '../tcp-segment.ts';
import { bold, type Command, Complaint, type Surroundings } from './command.ts';
import { type OptionRules, parseNumber, parseOptions } from './options.ts';
import { resolverOf } from './resolver.ts';

const HOPS = { 4: 8, 6: 64 } as const;
const MOST_HOPS: [number, number] = [1, 255];
const RULES: OptionRules = { P: [1, 17], m: MOST_HOPS };
const PROBES = 3;
const WAIT_MS = 1000;
const DATA = Buffer.alloc(56, 0x40);
const NAMES: Record<number, string> = { 1: ' (ICMP)', 6: ' (TCP)', 17: '' };

function* probeHop(protocol: number, probe: Probe, sequence: number): Job<Answer | undefined | 'not sent'> {
  const from = probe.host.freePort();
  // The next port, as in VPCS, so that a PC does not take it for an echo request.
  const to = from === 65_535 ? from - 1 : from + 1;
  if (protocol === 1) return yield* echoProbe(probe, { identifier: from, sequence, data: DATA });
  if (protocol === 17)
    return yield* udpProbe(probe, { from: Math.min(from, 65_534), to: Math.min(from, 65_534) + 1, data: DATA });
  const segment = { from, to, sequence: 1, acknowledgement: 0, flags: FLAG.syn, window: 0, data: Buffer.alloc(0) };
  return yield* tcpProbe(probe, [segment], () => true);
}

/** Prints one hop's line; answers whether it was the last. */
function* traceHop(pc: Surroundings, protocol: number, probe: Probe): Job<boolean> {
  let isLast = false;
  let known: Buffer | undefined;
  pc.print(`${String(probe.ttl).padStart(2)}   `);
  for (let number = 1; number <= PROBES; number++) {
    const answer = yield* probeHop(protocol, probe, probe.ttl * PROBES + number);
    if (answer === 'not sent' || answer === undefined) {
      pc.print('  *');
      continue;
    }
    const time = `${answer.milliseconds.toFixed(3)} ms`;
    const isTransit = answer.kind === 'error' && answer.type === (familyOf(answer.source) === 4 ? 11 : 3);
    if (answer.kind === 'error' && !isTransit) {
      const closing = isPortUnreachable(answer) || !answer.source.equals(probe.destination);
      pc.print(
        `${known === undefined ? '' : '  '}*${formatAddress(answer.source)}   ${time} (${describeError(answer)})`,
      );
      pc.print('\n');
      return closing || isLast;
    }
    if (known === undefined || !known.equals(answer.source)) {
      pc.print(`${known === undefined ? '' : '  '}${formatAddress(answer.source)}   ${time}`);
    } else pc.print(`  ${time}`);
    known = answer.source;
    isLast ||= answer.kind === 'reply';
  }
  pc.print('\n');
  return isLast;
}

function* run(words: string[], pc: Surroundings): Job {
  const options = parseOptions(words, RULES);
  const [name, hops] = options.words;
  if (name === undefined || options.words.length > 2) throw new Complaint('Invalid options');
  const protocol = options.numbers.get('P') ?? 17;
  const title = NAMES[protocol];
  if (title === undefined)
    throw new Complaint(`Invalid options: -P must be 1 (ICMP), 6 (TCP) or 17 (UDP), not ${protocol}`);
  const asked = hops === undefined ? options.numbers.get('m') : parseNumber(hops, 'the number of hops', MOST_HOPS);
  const target = yield* findTarget(pc.host, name, resolverOf(pc));
  if (typeof target === 'string') throw new Complaint(target);
  const { address, resolved } = target;
  if (resolved) pc.print(`${name} resolved to ${formatAddress(address)}\n`);
  const most = asked ?? HOPS[familyOf(address)];
  pc.print(`trace to ${name}, ${most} hops max${title}, press Ctrl+C to stop\n`);
  const why = yield* reach(pc.host, address);
  if (why !== undefined) throw new Complaint(why);
  const probe = { host: pc.host, destination: address, dontFragment: false, milliseconds: WAIT_MS };
  for (let ttl = 1; ttl <= most; ttl++) {
    if (yield* traceHop(pc, protocol, { ...probe, ttl })) return;
  }
}

export const trace: Command = {
  summary: ['<host> [-options]', 'Show the routers on the way to <host>'],
  help: `${bold('trace <host> [-options]')}
  Shows the routers on the way to <host>, an address or a name, by packets that get one hop farther each time.
    -P <protocol>  what is sent: 17 UDP (default), 1 ICMP, 6 TCP
    -m <hops>      hops at most, default 8 (IPv6: 64)
    <hops>         the same

  Names need a name server: ${bold('ip dns')}. Ctrl+C ends the command.
`,
  run,
};
