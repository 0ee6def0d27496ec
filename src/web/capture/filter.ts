// Display filters: `arp`, `ip.addr == 10.0.0.1 and not icmp`, `tcp.port == 179`, or just words.
import type { Packet } from './decode/packet-part.ts';

export type Filter = (packet: Packet) => boolean;

/** An invalid filter, with a message for users. */
export class BadFilter extends Error {}

/** Names of layers. Other words are searched for in the text. */
const PROTOCOLS = new Set(
  'arp bgp cdp chdlc chap dhcp dns eigrp eth fr hsrp icmp icmpv6 ip ipcp ipv6 ipv6cp lcp llc lldp lmi mdns ospf pap ppp rip ripng slarp stp tcp udp vlan vrrp'.split(
    ' ',
  ),
);

/** Names that stand for several fields. */
const EITHER: Readonly<Record<string, readonly string[]>> = {
  link: ['frame.link'],
  'eth.addr': ['eth.src', 'eth.dst'],
  'ip.addr': ['ip.src', 'ip.dst'],
  'ipv6.addr': ['ipv6.src', 'ipv6.dst'],
  'tcp.port': ['tcp.srcport', 'tcp.dstport'],
  'udp.port': ['udp.srcport', 'udp.dstport'],
};

const OPERATORS: Readonly<Record<string, string>> = { eq: '==', ne: '!=', gt: '>', lt: '<', ge: '>=', le: '<=' };
const COMPARISONS = new Set(['==', '!=', '>', '<', '>=', '<=', 'contains']);
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
      const rest = text.slice(at).trim().slice(0, 20);
      throw new BadFilter(`"${rest}" is not understood here.${rest.startsWith('=') ? ' Use == to compare.' : ''}`);
    }
    at = pattern.lastIndex;
    const [, quoted, sign, word] = found;
    tokens.push(
      quoted === undefined ? { text: sign ?? word ?? '', isQuoted: false } : { text: quoted, isQuoted: true },
    );
  }
  return tokens;
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
    if (left) throw new BadFilter(`Join "${left.text}" with what is before it by "and" or "or".`);
    return filter;
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
    if (!token.isQuoted && COMPARISONS.has(operator)) {
      this.#at += 1;
      return comparison(name, operator, this.#word(`A value behind "${operator}"`).text);
    }
    if (token.isQuoted || (!PROTOCOLS.has(name) && !/^[a-z]\w*(\.[a-z]\w*)+$/.test(name))) return textual(name);
    if (PROTOCOLS.has(name)) return ({ layers }) => layers.some(({ key }) => key === name);
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
  const keys = EITHER[name] ?? [name];
  const test = testOf(operator === '!=' ? '==' : operator, wanted);
  return ({ layers }) => {
    const fields = layers.flatMap((layer) => layer.fields.filter(({ key }) => key !== undefined && keys.includes(key)));
    const isFound = fields.some(({ text, value }) => test(text.toLowerCase(), value));
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
  if (network === undefined || length > 32) return undefined;
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
