// Virtual Router Redundancy Protocol, versions 2 (RFC 3768) and 3 (RFC 9568).
import { hex, type Part } from './packet-part.ts';

const MOST_ADDRESSES = 32;

export function vrrp(part: Part): void {
  const { packet } = part;
  part.begin('vrrp', 'VRRP');
  packet.says('VRRP', '');
  const first = part.u8();
  const version = first >> 4;
  part.noteNumber('Version', version, 'vrrp.version', 1);
  part.noteNumber('Type', first & 15, 'vrrp.type', 1);
  const group = part.u8('Virtual router', 'vrrp.virt_rtr_id');
  const priority = part.u8('Priority', 'vrrp.prio');
  const count = part.u8('Addresses', 'vrrp.addr_count');
  packet.info = `version ${version}, router ${group}, priority ${priority}${priority === 0 ? ' (gives up)' : ''}`;
  if (version < 3) {
    part.u8('Authentication', 'vrrp.auth_type');
    part.u8('Interval', 'vrrp.adver_int', (value) => `${value} s`);
  } else {
    part.noteNumber(
      'Interval',
      part.u16() & 0xfff,
      'vrrp.short_adver_int',
      2,
      (value) => `${value} (${value / 100} s)`,
    );
  }
  part.u16('Checksum', 'vrrp.checksum', hex(4));
  const isLong = part.left >= count * 16 && version >= 3;
  for (let index = 0; index < Math.min(count, MOST_ADDRESSES); index++) {
    const address = isLong ? part.ip6('Address', 'vrrp.ipv6_addr') : part.ip4('Address', 'vrrp.ip_addr');
    packet.info += `, ${address}`;
  }
}
