// Link Layer Discovery Protocol (IEEE 802.1AB).
import type { FieldName } from './field-names.ts';
import { asciiText, hex, hexText, ip4Text, macText, type Part } from './packet-part.ts';

const TEXTS: Readonly<Record<number, string>> = { 4: 'Port description', 5: 'System name', 6: 'System description' };
const MAC_SUBTYPES = { chassis: 4, port: 3 };
const ADDRESS_SUBTYPES = { chassis: 5, port: 4 };

export function lldp(part: Part): void {
  const { packet } = part;
  part.begin('lldp', 'LLDP');
  packet.says('LLDP', '');
  while (part.left >= 2) {
    const head = part.u16();
    const type = head >> 9;
    if (type === 0) return;
    const body = part.take(head & 0x1ff);
    const text = TEXTS[type];
    if (type === 1) packet.adds(`chassis ${identity(body, 'chassis', 'Chassis', 'lldp.chassis.id')}`);
    else if (type === 2) packet.adds(`port ${identity(body, 'port', 'Port', 'lldp.port.id')}`);
    else if (type === 3 && body.left >= 2) body.u16('Time to live', 'lldp.time_to_live', (value) => `${value} s`);
    else if (text !== undefined) {
      const value = body.text(body.left, text, type === 5 ? 'lldp.tlv.system.name' : 'lldp.tlv.text');
      if (type === 5) packet.adds(`system ${value}`);
    } else if (type === 127 && body.left >= 4) {
      const organization = hex(6)(body.number(3));
      body.hex(body.left, `Organization ${organization}`, 'lldp.orgtlv');
    } else body.hex(body.left, `Value of type ${type}`);
  }
}

function identity(body: Part, kind: 'chassis' | 'port', label: string, key: FieldName): string {
  const subtype = body.u8();
  const bytes = body.raw(body.left);
  const text = identityText(bytes, subtype, kind);
  body.note(label, text, key, bytes.length);
  return text;
}

function identityText(bytes: Uint8Array, subtype: number, kind: 'chassis' | 'port'): string {
  if (subtype === MAC_SUBTYPES[kind] && bytes.length === 6) return macText(bytes);
  if (subtype === ADDRESS_SUBTYPES[kind] && bytes.length === 5 && bytes[0] === 1) return ip4Text(bytes.subarray(1));
  return subtype >= 1 && subtype <= 7 ? asciiText(bytes) : hexText(bytes);
}
