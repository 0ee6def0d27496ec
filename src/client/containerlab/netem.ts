// Converts `tc ... netem` and `containerlab tools netem` settings of an interface to impairments of a direction.
import * as v from 'valibot';
import { DISTRIBUTIONS, DirectionImpairments } from '../../api/impairments.ts';
import { invalid } from '../../failures.ts';

type Member = keyof DirectionImpairments;

/** Milliseconds in a unit of time of tc(8); a number without a unit is in microseconds. */
const TIMES: Readonly<Record<string, number>> = {
  s: 1_000,
  sec: 1_000,
  secs: 1_000,
  ms: 1,
  msec: 1,
  msecs: 1,
  us: 0.001,
  usec: 0.001,
  usecs: 0.001,
  µs: 0.001,
  ns: 0.000_001,
  m: 60_000,
  '': 0.001,
};
/** Bits a second in a unit of rate of tc(8). */
const RATES: Readonly<Record<string, number>> = {
  bit: 1,
  kbit: 1e3,
  mbit: 1e6,
  gbit: 1e9,
  tbit: 1e12,
  kibit: 1024,
  mibit: 1024 ** 2,
  gibit: 1024 ** 3,
  bps: 8,
  kbps: 8e3,
  mbps: 8e6,
  gbps: 8e9,
  '': 1,
};

/** Parses a number with a unit, such as `5ms`; undefined if invalid. */
function quantity(text: string | undefined, units: Readonly<Record<string, number>>): number | undefined {
  const [, number, unit] = /^([\d.]+)([a-zµ]*)$/.exec(text?.toLowerCase() ?? '') ?? [];
  const factor = units[unit ?? ''];
  return number === undefined || factor === undefined ? undefined : Number((Number(number) * factor).toFixed(6));
}

const milliseconds = (text: string | undefined) => quantity(text, TIMES);
const percent = (text: string | undefined): number | undefined =>
  /^[\d.]+%?$/.test(text ?? '') ? Number.parseFloat(text!) : undefined;

/** The words of a netem command, read in order. */
class Words {
  readonly #words: readonly string[];
  #at = 0;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  next(): string | undefined {
    return this.#words[this.#at++];
  }

  peek(): string | undefined {
    return this.#words[this.#at];
  }

  /** Takes the next word as a value; does not advance if it is invalid. */
  take(value: (text: string | undefined) => number | undefined): number | undefined {
    const found = value(this.#words[this.#at]);
    if (found !== undefined) this.#at++;
    return found;
  }

  skip(word: string): void {
    if (this.#words[this.#at] === word) this.#at++;
  }
}

const given = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined && one !== 0)) as Value;

function chance(words: Words) {
  words.skip('random');
  return { percent: words.take(percent) ?? 0, ...given({ correlation: words.take(percent) }) };
}

export interface Shaped {
  /** The interface by which the affected frames leave. */
  interface: string;
  impairments: DirectionImpairments;
  /** Words that nothing here does. */
  strange: string[];
}

/**
 * Understands `tc qdisc add dev eth1 root netem delay 100ms 10ms loss 1%`.
 * @returns undefined for a command that is not one of netem at the root of an interface
 */
export function netemCommand(command: string): Shaped | undefined {
  const match =
    /^(?:\/\S*\/)?tc\s+qdisc\s+(?:add|replace|change)\s+dev\s+(\S+)\s+root\s+(?:handle\s+\S+\s+)?netem\s+([^;&|]+)$/.exec(
      command.trim(),
    );
  if (!match) return undefined;
  const words = new Words(match[2]!.trim().split(/\s+/));
  const impairments: DirectionImpairments = {};
  const strange: string[] = [];
  for (let word = words.next(); word !== undefined; word = words.next()) {
    switch (word) {
      case 'delay': {
        const ms = words.take(milliseconds) ?? 0;
        impairments.delay = { ms, ...given({ jitter: words.take(milliseconds), correlation: words.take(percent) }) };
        break;
      }
      case 'distribution': {
        const name = words.next();
        const known = DISTRIBUTIONS.find((one) => one === name);
        if (known && impairments.delay) impairments.delay.distribution = known;
        else strange.push(`distribution ${name}`);
        break;
      }
      case 'loss':
        if (words.peek() === 'gemodel') impairments.burst_loss = burstLoss(words);
        else if (words.peek() === 'state') {
          strange.push('loss state');
          words.next();
          while (words.take(percent) !== undefined);
        } else impairments.loss = chance(words);
        break;
      case 'duplicate':
      case 'reorder':
      case 'corrupt':
        impairments[word] = chance(words);
        break;
      case 'gap': {
        const gap = words.take(percent);
        if (impairments.reorder && gap !== undefined) impairments.reorder.gap = gap;
        break;
      }
      case 'rate': {
        const bits = words.take((text) => quantity(text, RATES));
        if (bits !== undefined) impairments.rate = { kbit: bits / 1000 };
        break;
      }
      case 'limit':
        strange.push(`limit ${words.next()}`);
        break;
      default:
        strange.push(word);
    }
  }
  return { interface: match[1]!, impairments, strange };
}

/** tc gives the delivery probability in the bad state (1-h) and the loss in the good one (1-k). */
function burstLoss(words: Words): NonNullable<DirectionImpairments['burst_loss']> {
  words.skip('gemodel');
  const p = words.take(percent) ?? 0;
  const r = words.take(percent) ?? 100 - p;
  const [bad, good] = [words.take(percent), words.take(percent)];
  return { p, r, ...(bad !== undefined && { loss_bad: bad }), ...given({ loss_good: good }) };
}

const Duration = v.optional(v.string(), '');
const Share = v.optional(v.number(), 0);
const Shown = v.record(
  v.string(),
  v.array(
    v.looseObject({
      interface: v.string(),
      delay: Duration,
      jitter: Duration,
      packet_loss: Share,
      rate: Share,
      corruption: Share,
    }),
  ),
);

/** A time as Go writes it, such as `1m0.5s`, in milliseconds; 0 for none. */
function goDuration(text: string): number {
  const parts = [...text.matchAll(/([\d.]+)(ms|µs|us|ns|h|m|s)/g)];
  const sum = parts.reduce(
    (all, [, number, unit]) => all + Number(number) * (unit === 'h' ? 3_600_000 : TIMES[unit!]!),
    0,
  );
  return Number(sum.toFixed(6));
}

/**
 * Parses the output of `containerlab tools netem show --format json`: impairments by node and interface.
 * @throws Failure `invalid`
 */
export function shownNetem(text: string, name: string): Map<string, Map<string, DirectionImpairments>> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw invalid(`${name}: it is not JSON: save what containerlab tools netem show --format json prints.`);
  }
  const checked = v.safeParse(Shown, content);
  if (!checked.success) {
    const [issue] = checked.issues;
    throw invalid(`${name}: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
  }
  const nodes = Object.entries(checked.output).map(([node, interfaces]) => {
    const shaped = interfaces.map((one) => {
      const [ms, jitter] = [goDuration(one.delay), goDuration(one.jitter)];
      const impairments: DirectionImpairments = {
        ...((ms > 0 || jitter > 0) && { delay: { ms, ...given({ jitter }) } }),
        ...(one.packet_loss > 0 && { loss: { percent: one.packet_loss } }),
        ...(one.rate > 0 && { rate: { kbit: one.rate } }),
        ...(one.corruption > 0 && { corrupt: { percent: one.corruption } }),
      };
      return [one.interface.replace(/ .*/, ''), impairments] as const;
    });
    return [node, new Map(shaped)] as const;
  });
  return new Map(nodes);
}

/** Removes and returns members with values that links do not support, with the reason. */
export function refusedImpairments(impairments: DirectionImpairments): {
  kept: DirectionImpairments;
  refused: string[];
} {
  const kept = { ...impairments };
  const refused: string[] = [];
  for (const member of Object.keys(impairments) as Member[]) {
    const checked = v.safeParse(DirectionImpairments, { [member]: impairments[member] });
    if (checked.success) continue;
    delete kept[member];
    refused.push(`${v.getDotPath(checked.issues[0]) ?? member}: ${checked.issues[0].message}`);
  }
  return { kept, refused };
}
