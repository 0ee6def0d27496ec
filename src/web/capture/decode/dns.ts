// Domain Name System (RFC 1035), over UDP and TCP.
import { asciiText, CUT_OFF, hex, type Part } from './packet-part.ts';

const TYPES: Readonly<Record<number, string>> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  12: 'PTR',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  33: 'SRV',
  41: 'OPT',
  65: 'HTTPS',
  255: 'ANY',
};
const CODES: Readonly<Record<number, string>> = {
  1: 'format error',
  2: 'server failure',
  3: 'no such name',
  5: 'refused',
};
/** RFC 1035 §2.3.4, with the octet of each length. */
const MOST_LABEL_OCTETS = 63;
const MOST_NAME_OCTETS = 255;
/** Most records shown per message. */
const MOST_RECORDS = 100;

const typeText = (type: number): string => TYPES[type] ?? `type ${type}`;

export function dnsOverTcp(part: Part): void {
  const length = part.u16('Length', 'dns.length');
  dns(part.atMost(length), 'DNS');
}

export function dns(part: Part, protocol: 'DNS' | 'MDNS'): void {
  const { packet } = part;
  const begin = part.at;
  part.begin(protocol === 'DNS' ? 'dns' : 'mdns', protocol);
  packet.says(protocol, '');
  const id = part.u16('Transaction', 'dns.id', hex(4));
  const flags = part.u16('Flags', 'dns.flags', hex(4));
  const [questions, answers, authorities, more] = ['Questions', 'Answers', 'Authorities', 'Additional'].map((label) =>
    part.u16(label),
  ) as [number, number, number, number];
  const said: string[] = [];
  packet.info = flags & 0x8000 ? `response ${hex(4)(id)}` : `query ${hex(4)(id)}`;
  for (let index = 0; index < Math.min(questions, MOST_RECORDS); index++) {
    const from = part.at;
    const name = nameAt(part, begin);
    const type = part.u16();
    part.u16();
    part.note('Question', `${typeText(type)} ${name}`, 'dns.qry.name', part.at - from, name);
    said.push(`${typeText(type)} ${name}`);
    packet.info = infoOf(flags, id, said);
  }
  const records = Math.min(answers + authorities + more, MOST_RECORDS);
  for (let index = 0; index < records; index++) {
    const from = part.at;
    const name = nameAt(part, begin);
    const type = part.u16();
    part.u16();
    const lifetime = part.u32();
    const data = part.take(part.u16());
    const value = dataText(data, type, begin);
    const label = index < answers ? 'Answer' : 'Record';
    part.note(label, `${typeText(type)} ${name} ${value} (${lifetime} s)`, 'dns.resp', part.at - from);
    if (index < answers) said.push(`${typeText(type)} ${value}`);
    packet.info = infoOf(flags, id, said);
  }
}

function infoOf(flags: number, id: number, said: readonly string[]): string {
  const kind = flags & 0x8000 ? 'response' : 'query';
  const code = flags & 15;
  const failed = flags & 0x8000 && code !== 0 ? ` ${CODES[code] ?? `code ${code}`}` : '';
  return `${kind} ${hex(4)(id)}${failed} ${said.slice(0, 6).join(', ')}`;
}

function dataText(data: Part, type: number, begin: number): string {
  if (type === 1 && data.left === 4) return data.ip4();
  if (type === 28 && data.left === 16) return data.ip6();
  if (type === 2 || type === 5 || type === 12) return nameAt(data, begin);
  if (type === 15) return `${data.u16()} ${nameAt(data, begin)}`;
  if (type === 33) return `${data.u16()} ${data.u16()} port ${data.u16()} ${nameAt(data, begin)}`;
  if (type === 6) return nameAt(data, begin);
  if (type === 16) return `"${asciiText(data.raw(data.left).subarray(1))}"`;
  return `${data.left} bytes`;
}

/**
 * Reads a name (RFC 1035 §4.1.4). A compression pointer continues at an earlier offset; reading resumes behind the pointer.
 * Pointers only ever lead further back, so that no name refers to itself.
 */
function nameAt(part: Part, begin: number): string {
  let name = '';
  let octets = 0;
  let start = part.at;
  let behind: number | undefined;
  for (let length = part.u8(); length !== 0; length = part.u8()) {
    if (length >= 0xc0) {
      const place = begin + ((length & 0x3f) << 8) + part.u8();
      behind ??= part.at;
      if (place >= start) throw CUT_OFF;
      part.at = start = place;
    } else {
      octets += length + 1;
      if (length > MOST_LABEL_OCTETS || octets >= MOST_NAME_OCTETS) throw CUT_OFF;
      name += `${name && '.'}${part.text(length)}`;
    }
  }
  if (behind !== undefined) part.at = behind;
  return name || '.';
}
