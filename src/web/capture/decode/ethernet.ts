// Ethernet II and IEEE 802.3 with LLC and SNAP; passes the payload on by type.
import { arp } from './arp.ts';
import { cdp } from './cdp.ts';
import { LEAST_TYPE, typed, typeText } from './ether-types.ts';
import { lldp } from './lldp.ts';
import { type Decoder, hex, type Part } from './packet-part.ts';
import { stp } from './stp.ts';
import { ip, ipv6 } from './transport.ts';
import { vlan } from './vlan.ts';

const CISCO = 0x00000c;

const TYPES: Readonly<Record<number, Decoder>> = {
  2048: ip,
  2054: arp,
  33024: (part) => vlan(part, 'IEEE 802.1Q', payload),
  34984: (part) => vlan(part, 'IEEE 802.1ad', payload),
  37120: (part) => vlan(part, 'QinQ', payload),
  34525: ipv6,
  35020: lldp,
};

export function ethernet(part: Part): void {
  const { packet } = part;
  part.begin('eth', 'Ethernet');
  const target = part.mac('Destination', 'eth.dst');
  const source = part.mac('Source', 'eth.src');
  packet.between(source, target);
  typed(part, 'eth.type', 'eth.len', payload);
}

function payload(part: Part, type: number): void {
  if (type >= LEAST_TYPE) etherType(part, type);
  else llc(part.atMost(type));
}

function etherType(part: Part, type: number): void {
  const decoder = TYPES[type];
  if (decoder) decoder(part.take());
  else part.packet.says(hex(4)(type), `type ${typeText(type)}, ${part.sent} bytes`);
}

function llc(part: Part): void {
  const { packet } = part;
  part.begin('llc', 'Logical Link Control');
  packet.says('LLC', '');
  const target = part.u8('DSAP', 'llc.dsap', hex(2));
  part.u8('SSAP', 'llc.ssap', hex(2));
  part.u8('Control', 'llc.control', hex(2));
  packet.info = `to service ${hex(2)(target)}`;
  if (target === 0x42) {
    part.close();
    stp(part.take());
  } else if (target === 0xaa) {
    snap(part);
  }
}

function snap(part: Part): void {
  const organization = part.number(3, 'Organization', 'llc.oui', hex(6));
  const type = part.u16('Protocol', 'llc.pid', hex(4));
  part.close();
  part.packet.info = `organization ${hex(6)(organization)}, protocol ${hex(4)(type)}`;
  if (organization === 0) etherType(part, type);
  else if (organization === CISCO && type === 0x2000) cdp(part.take());
  // Cisco's per-VLAN spanning tree has the same messages.
  else if (organization === CISCO && type === 0x010b) stp(part.take());
}
