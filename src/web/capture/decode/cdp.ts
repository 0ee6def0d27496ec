// Cisco Discovery Protocol.
import type { FieldName } from './field-names.ts';
import { hex, type Part } from './packet-part.ts';

const TEXTS: Readonly<Record<number, { label: string; key: FieldName }>> = {
  1: { label: 'Device', key: 'cdp.deviceid' },
  3: { label: 'Port', key: 'cdp.portid' },
  5: { label: 'Software', key: 'cdp.software_version' },
  6: { label: 'Platform', key: 'cdp.platform' },
  9: { label: 'VTP domain', key: 'cdp.vtp_management_domain' },
};

export function cdp(part: Part): void {
  const { packet } = part;
  part.begin('cdp', 'CDP');
  packet.says('CDP', '');
  part.u8('Version', 'cdp.version');
  part.u8('Time to live', 'cdp.ttl', (value) => `${value} s`);
  part.u16('Checksum', 'cdp.checksum', hex(4));
  while (part.left >= 4) {
    const type = part.u16();
    const length = part.u16();
    if (length < 4) return;
    const body = part.take(length - 4);
    const text = TEXTS[type];
    if (text) {
      const value = body.text(body.left, text.label, text.key);
      if (type === 1) packet.adds(`device ${value}`);
      if (type === 3) packet.adds(`port ${value}`);
    } else if (type === 10 && body.left === 2) body.u16('Native VLAN', 'cdp.native_vlan');
    else if (type === 11 && body.left === 1) body.u8('Duplex', 'cdp.duplex', (value) => (value ? 'full' : 'half'));
    else if (type === 4 && body.left === 4) body.u32('Capabilities', 'cdp.capabilities', hex(8));
    else body.hex(body.left, `Value of type ${hex(4)(type)}`);
  }
}
