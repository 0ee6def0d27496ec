// Serial lines: PPP, Cisco HDLC and Frame Relay.
import { arp } from './arp.ts';
import { cdp } from './cdp.ts';
import { LEAST_TYPE, typeText } from './ether-types.ts';
import type { Protocol } from './field-names.ts';
import { type Decoder, hex, named, type Part } from './packet-part.ts';
import { ip, ipv6 } from './transport.ts';

const CISCO_CDP = 0x2000;
const SLARP = 0x8035;

/** Payloads by the type of Cisco HDLC and Cisco's Frame Relay. */
const TYPES: Readonly<Record<number, Decoder>> = { 2048: ip, 2054: arp, [CISCO_CDP]: cdp, 34525: ipv6, [SLARP]: slarp };

const CONTROL: Readonly<Record<number, string>> = {
  1: 'configure request',
  2: 'configure ack',
  3: 'configure nak',
  4: 'configure reject',
  5: 'terminate request',
  6: 'terminate ack',
  7: 'code reject',
  8: 'protocol reject',
  9: 'echo request',
  10: 'echo reply',
  11: 'discard request',
};
const PAP: Readonly<Record<number, string>> = { 1: 'request', 2: 'ack', 3: 'nak' };
const CHAP: Readonly<Record<number, string>> = { 1: 'challenge', 2: 'response', 3: 'success', 4: 'failure' };

const PPP: Readonly<Record<number, { key: Protocol; name: string; codes: Readonly<Record<number, string>> }>> = {
  32801: { key: 'ipcp', name: 'PPP IPCP', codes: CONTROL },
  32855: { key: 'ipv6cp', name: 'PPP IPV6CP', codes: CONTROL },
  33287: { key: 'cdpcp', name: 'PPP CDPCP', codes: CONTROL },
  49185: { key: 'lcp', name: 'PPP LCP', codes: CONTROL },
  49187: { key: 'pap', name: 'PPP PAP', codes: PAP },
  49699: { key: 'chap', name: 'PPP CHAP', codes: CHAP },
};

export function ppp(part: Part): void {
  const { packet } = part;
  part.begin('ppp', 'PPP');
  packet.says('PPP', '');
  if (part.peek() === 0xff) {
    part.u8('Address', 'ppp.address', hex(2));
    part.u8('Control', 'ppp.control', hex(2));
  }
  const type = part.u16('Protocol', 'ppp.protocol', hex(4));
  part.close();
  const control = PPP[type];
  if (type === 0x21) ip(part.take());
  else if (type === 0x57) ipv6(part.take());
  else if (type === 0x0207) cdp(part.take());
  else if (control) {
    part.begin(control.key, control.name);
    const code = part.u8('Code', 'ppp.code', named(control.codes));
    const id = part.u8('Identifier', 'ppp.identifier');
    packet.says(control.name, `${control.codes[code] ?? `code ${code}`}, id ${id}`);
    const body = part.atMost(part.u16('Length', 'ppp.length') - 4);
    if (body.left > 0) body.hex(body.left, 'Options or data');
  } else packet.info = `protocol ${hex(4)(type)}`;
}

export function ciscoHdlc(part: Part): void {
  const { packet } = part;
  part.begin('chdlc', 'Cisco HDLC');
  part.u8('Address', 'chdlc.address', named({ 15: 'unicast', 143: 'multicast' }));
  part.u8('Control', 'chdlc.control', hex(2));
  const type = part.u16('Protocol', 'chdlc.protocol', typeText);
  packet.says(hex(4)(type), `type ${typeText(type)}`);
  part.close();
  TYPES[type]?.(part.take());
}

function slarp(part: Part): void {
  part.begin('slarp', 'SLARP');
  const code = part.u32('Code', 'slarp.ptype', named({ 0: 'request', 1: 'reply', 2: 'keepalive' }));
  part.packet.says('SLARP', code === 2 ? 'keepalive' : `code ${code}`);
  if (code === 2) {
    const mine = part.u32('Own sequence', 'slarp.mysequence');
    part.packet.info += ` ${mine}, seen ${part.u32('Seen sequence', 'slarp.yoursequence')}`;
  } else {
    const address = part.ip4('Address', 'slarp.address');
    part.packet.info = `${code === 0 ? 'request' : 'reply'} ${address} ${part.ip4('Mask', 'slarp.mask')}`;
  }
}

/** Two-byte Q.922 address, then an NLPID or a Cisco type. */
export function frameRelay(part: Part): void {
  const { packet } = part;
  part.begin('fr', 'Frame Relay');
  const address = part.u16();
  const dlci = ((address >> 6) & 0x3f0) | ((address >> 4) & 15);
  part.noteNumber('DLCI', dlci, 'fr.dlci', 2);
  const bits = { FECN: address & 8, BECN: address & 4, DE: address & 2 };
  part.note(
    'Congestion',
    Object.keys(bits)
      .filter((name) => bits[name as 'DE'])
      .join(', ') || 'none',
    undefined,
    2,
  );
  packet.says('FR', `DLCI ${dlci}`);
  if (part.peek() === 3) {
    part.u8('Control', 'fr.control', hex(2));
    if (part.peek() === 0) part.skip(1);
    const protocol = part.u8('NLPID', 'fr.nlpid', hex(2));
    part.close();
    if (protocol === 0xcc) ip(part.take());
    else if (protocol === 0x8e) ipv6(part.take());
    else if (protocol === 0x80) snapOf(part);
    else if (protocol === 0x08 || protocol === 0x09) management(part);
    else packet.info += `, NLPID ${hex(2)(protocol)}`;
    return;
  }
  const type = part.u16('Type', 'fr.chdlctype', typeText);
  part.close();
  if (type < LEAST_TYPE) return;
  packet.info += `, ${typeText(type)}`;
  TYPES[type]?.(part.take());
}

function snapOf(part: Part): void {
  const organization = part.number(3, 'Organization', 'fr.snap.oui', hex(6));
  const type = part.u16('Protocol', 'fr.snap.pid', typeText);
  part.close();
  if (organization === 0) TYPES[type]?.(part.take());
}

const REPORTS: Readonly<Record<number, string>> = { 0: 'full status', 1: 'link integrity', 2: 'single status' };

/** Local management interface: Q.933 Annex A and its variants. */
function management(part: Part): void {
  part.begin('lmi', 'Local management');
  part.u8('Call reference', 'lmi.cref');
  const type = part.u8('Message', 'lmi.msg_type', named({ 117: 'status enquiry', 125: 'status' }));
  part.packet.says('Q.933', type === 117 ? 'status enquiry' : type === 125 ? 'status' : `message ${type}`);
  while (part.left >= 2) {
    const element = part.u8();
    // Locking shifts have no length.
    if (element & 0x80) continue;
    const body = part.take(part.u8());
    if ((element === 0x51 || element === 1) && body.left === 1) {
      const report = body.u8('Report', 'lmi.rec_type', named(REPORTS));
      part.packet.info += `, ${REPORTS[report] ?? `report ${report}`}`;
    } else if ((element === 0x53 || element === 3) && body.left === 2) {
      body.u8('Sent sequence', 'lmi.send_seq');
      body.u8('Received sequence', 'lmi.recv_seq');
    } else body.hex(body.left, `Element ${hex(2)(element)}`);
  }
}
