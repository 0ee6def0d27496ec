// Display filters: `arp`, `ip.addr == 10.0.0.1 and not icmp`, `tcp.port == 179`, or just words.
import { didYouMean } from '../../host/values/nearest-name.ts';
import { rank } from '../model/lab/commands.ts';
import { FIELD_NAMES, PROTOCOLS } from './decode/field-names.ts';
import type { Packet } from './decode/packet-part.ts';

export type Filter = (packet: Packet) => boolean;

/** An invalid filter, with a message for users. */
export class BadFilter extends Error {}

/** Names that stand for several fields. */
const EITHER: Readonly<Record<string, readonly string[]>> = {
  'eth.addr': ['eth.src', 'eth.dst'],
  'ip.addr': ['ip.src', 'ip.dst'],
  'ipv6.addr': ['ipv6.src', 'ipv6.dst'],
  'tcp.port': ['tcp.srcport', 'tcp.dstport'],
  'udp.port': ['udp.srcport', 'udp.dstport'],
};

const OPERATORS: Readonly<Record<string, string>> = { eq: '==', ne: '!=', gt: '>', lt: '<', ge: '>=', le: '<=' };
const COMPARISONS = ['==', '!=', '>', '<', '>=', '<=', 'contains'];
const FIELDS = new Set([...Object.keys(EITHER), ...FIELD_NAMES]);
/** Other words are searched for in the text. */
const LAYERS: ReadonlySet<string> = new Set(PROTOCOLS);
/** In the order of completion. */
const NAMES = [...Object.keys(EITHER), ...PROTOCOLS, ...FIELD_NAMES];

/** Words of other filters, and what is written here instead. */
const FOREIGN: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '=': '==',
    '=>': '>=',
    '=<': '<=',
    '&': 'and',
    '|': 'or',
    '~': 'contains',
    matches: 'contains',
    in: '== for each value, joined by or',
    host: 'ip.addr ==',
    net: 'ip.addr ==',
    src: 'ip.src ==',
    dst: 'ip.dst ==',
    port: 'tcp.port == or udp.port ==',
  }),
);
const MOST_TOKENS = 200;

interface Token {
  text: string;
  isQuoted: boolean;
}

/** Parses a filter; undefined for an empty one. @throws BadFilter */
export function filterOf(text: string): Filter | undefined {
  const tokens = tokensOf(text);
  if (tokens.length === 0) return undefined;
  if (tokens.length > MOST_TOKENS) throw new BadFilter(`The filter has more than ${MOST_TOKENS} words.`);
  const parser = new Parser(tokens);
  return parser.whole();
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s*(?:"([^"]*)"|(==|!=|>=|<=|&&|\|\||[()!<>])|([^\s()!<>=&|"]+))/y;
  let at = 0;
  while (text.slice(at).trim() !== '') {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) {
      const rest = text.slice(at).trim();
      const [sign = ''] = /^(=[<>]|[=&|])/.exec(rest) ?? [];
      rejectForeign(sign);
      throw new BadFilter(`The closing " is missing behind ${rest.slice(0, 20)}.`);
    }
    at = pattern.lastIndex;
    const [, quoted, sign, word] = found;
    tokens.push(
      quoted === undefined ? { text: sign ?? word ?? '', isQuoted: false } : { text: quoted, isQuoted: true },
    );
  }
  return tokens;
}

/** @throws BadFilter */
function rejectForeign(word: string): void {
  const own = FOREIGN.get(word.toLowerCase());
  if (own !== undefined) throw new BadFilter(`Use ${own} instead of ${word}.`);
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Filter {
    const filter = this.#or();
    const left = this.#tokens[this.#at];
    if (!left) return filter;
    for (const { text, isQuoted } of [left, this.#tokens[this.#at - 1]!]) if (!isQuoted) rejectForeign(text);
    throw new BadFilter(`Join "${left.text}" with what is before it by "and" or "or".`);
  }

  #is(...words: string[]): boolean {
    const token = this.#tokens[this.#at];
    if (!token || token.isQuoted || !words.includes(token.text.toLowerCase())) return false;
    this.#at += 1;
    return true;
  }

  #or(): Filter {
    const parts = [this.#and()];
    while (this.#is('or', '||')) parts.push(this.#and());
    return parts.length === 1 ? parts[0]! : (packet) => parts.some((part) => part(packet));
  }

  #and(): Filter {
    const parts = [this.#not()];
    while (this.#is('and', '&&')) parts.push(this.#not());
    return parts.length === 1 ? parts[0]! : (packet) => parts.every((part) => part(packet));
  }

  #not(): Filter {
    if (this.#is('not', '!')) {
      const part = this.#not();
      return (packet) => !part(packet);
    }
    if (this.#is('(')) {
      const part = this.#or();
      if (!this.#is(')')) throw new BadFilter('A ")" is missing.');
      return part;
    }
    return this.#comparison();
  }

  #word(wanted: string): Token {
    const token = this.#tokens[this.#at];
    const isSign = token && !token.isQuoted && /^([()!<>]|[=!<>]=|&&|\|\|)$/.test(token.text);
    if (!token || isSign)
      throw new BadFilter(`${wanted} is missing${token ? ` before "${token.text}"` : ' at the end'}.`);
    this.#at += 1;
    return token;
  }

  #comparison(): Filter {
    const token = this.#word('A word or a name');
    const next = this.#tokens[this.#at];
    const operator = next && !next.isQuoted ? (OPERATORS[next.text.toLowerCase()] ?? next.text.toLowerCase()) : '';
    const name = token.text.toLowerCase();
    if (!token.isQuoted && COMPARISONS.includes(operator)) {
      this.#at += 1;
      return comparison(name, operator, this.#word(`A value behind "${operator}"`).text);
    }
    if (token.isQuoted || (!LAYERS.has(name) && !/^[a-z]\w*(\.[a-z]\w*)+$/.test(name))) return textual(name);
    if (LAYERS.has(name)) return ({ layers }) => layers.some(({ key }) => key === name);
    const keys = EITHER[name] ?? [name];
    // A name with a dot may also be a host name.
    const isSaid = textual(name);
    return (packet) =>
      packet.layers.some(({ fields }) => fields.some(({ key }) => key !== undefined && keys.includes(key))) ||
      isSaid(packet);
  }
}

function textual(wanted: string): Filter {
  const word = wanted.toLowerCase();
  return ({ capture, protocol, source, target, info }) =>
    `${capture} ${protocol} ${source} ${target} ${info}`.toLowerCase().includes(word);
}

function comparison(name: string, operator: string, wanted: string): Filter {
  if (LAYERS.has(name)) {
    const field = [...FIELDS].find((each) => each.startsWith(`${name}.`));
    const fix = field === undefined ? `Use ${name} alone` : `Compare one of its fields, such as ${field}`;
    throw new BadFilter(`${name} is a protocol. ${fix}.`);
  }
  if (!FIELDS.has(name)) throw new BadFilter(`There is no field ${name}${didYouMean(name, [...FIELDS])}`);
  const keys: readonly string[] = EITHER[name] ?? [name];
  const test = testOf(operator === '!=' ? '==' : operator, wanted);
  return ({ layers }) => {
    const fields = layers.flatMap((layer) => layer.fields.filter(({ key }) => key !== undefined && keys.includes(key)));
    const isFound = fields.some(({ text, value }) =>
      typeof value === 'string'
        ? test(text.toLowerCase(), undefined) || test(value.toLowerCase(), undefined)
        : test(text.toLowerCase(), value),
    );
    return operator === '!=' ? fields.length > 0 && !isFound : isFound;
  };
}

function testOf(operator: string, wanted: string): (text: string, value: number | undefined) => boolean {
  const word = wanted.toLowerCase();
  if (operator === 'contains') return (text) => text.includes(word);
  const number = /^(\d+(\.\d+)?|0x[\da-f]+)$/.test(word) ? Number(word) : undefined;
  if (operator === '==') {
    const network = networkOf(word);
    if (network) return (text) => network(text);
    return (text, value) => text === word || (number !== undefined && value === number);
  }
  if (number === undefined) throw new BadFilter(`"${wanted}" is no number, which "${operator}" needs.`);
  return (_text, value = Number.NaN) => {
    if (operator === '>') return value > number;
    if (operator === '<') return value < number;
    return operator === '>=' ? value >= number : value <= number;
  };
}

/** Parses a prefix such as `10.0.0.0/8`. */
function networkOf(word: string): ((text: string) => boolean) | undefined {
  const [, address = '', bits = ''] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(word) ?? [];
  const network = numberOf(address);
  const length = Number(bits);
  if (length > 32) throw new BadFilter(`/${bits} is too long: a prefix of IPv4 has 0 to 32 bits.`);
  if (/^[\da-f]*:[\da-f:]*\/\d+$/.test(word)) throw new BadFilter('IPv6 prefixes are not supported: use contains.');
  if (network === undefined) return undefined;
  const size = 2 ** (32 - length);
  return (text) => {
    const found = numberOf(text);
    return found !== undefined && Math.floor(found / size) === Math.floor(network / size);
  };
}

function numberOf(address: string): number | undefined {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

export interface Completion {
  /** The text that an offer replaces. */
  from: number;
  to: number;
  offers: readonly string[];
}

/**
 * Names, and operators behind the name of a field, that continue the text at the caret; best first.
 * @param isAsked names also where none has begun
 */
export function completionAt(text: string, caret: number, isAsked: boolean): Completion {
  const before = text.slice(0, caret);
  const word = /[\w.]*$/.exec(before)![0].toLowerCase();
  const from = caret - word.length;
  const place = { from, to: caret + /^[\w.]*/.exec(text.slice(caret))![0].length };
  const former = /[^\s()!]*\s*$/.exec(before.slice(0, from))![0].trim().toLowerCase();
  const isQuoted = before.split('"').length % 2 === 0;
  if (isQuoted || /[=<>"]$/.test(former) || former === 'contains' || Object.hasOwn(OPERATORS, former))
    return { ...place, offers: [] };
  if (FIELDS.has(former)) return { ...place, offers: COMPARISONS.filter((each) => each.startsWith(word)) };
  if (word === '' && !isAsked) return { ...place, offers: [] };
  const ranked = NAMES.map((name) => ({ name, found: rank(name, word) ?? 3 }));
  const offers = ranked.filter(({ name, found }) => found < 2 && name !== word);
  return { ...place, offers: offers.sort((one, other) => one.found - other.found).map(({ name }) => name) };
}
