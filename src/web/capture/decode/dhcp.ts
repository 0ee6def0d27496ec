// DHCP and BOOTP (RFC 2131, RFC 2132).
import { hex, ip4Text, named, type Part } from './packet-part.ts';

const COOKIE = '99.130.83.99';
const END = 255;
const TYPES: Readonly<Record<number, string>> = {
  1: 'discover',
  2: 'offer',
  3: 'request',
  4: 'decline',
  5: 'ack',
  6: 'nak',
  7: 'release',
  8: 'inform',
};
const ADDRESSES: Readonly<Record<number, string>> = {
  1: 'Subnet mask',
  3: 'Router',
  6: 'DNS server',
  28: 'Broadcast address',
  42: 'NTP server',
  50: 'Requested address',
  54: 'DHCP server',
};
const TEXTS: Readonly<Record<number, string>> = {
  12: 'Host name',
  15: 'Domain name',
  60: 'Vendor class',
  67: 'Boot file',
};
const TIMES: Readonly<Record<number, string>> = { 51: 'Lease time', 58: 'Renewal time', 59: 'Rebinding time' };

export function dhcp(part: Part): void {
  const { packet } = part;
  part.begin('dhcp', 'DHCP');
  packet.says('DHCP', 'BOOTP');
  const operation = part.u8('Operation', 'dhcp.type', named({ 1: 'request', 2: 'reply' }));
  part.u8('Hardware type', 'dhcp.hw.type');
  part.u8('Hardware address length', 'dhcp.hw.len');
  part.u8('Hops', 'dhcp.hops');
  const id = part.u32('Transaction', 'dhcp.id', hex(8));
  part.u16('Seconds', 'dhcp.secs');
  part.u16('Flags', 'dhcp.flags', hex(4));
  part.ip4('Client address', 'dhcp.ip.client');
  const yours = part.ip4('Your address', 'dhcp.ip.your');
  part.ip4('Next server', 'dhcp.ip.server');
  part.ip4('Relay', 'dhcp.ip.relay');
  part.mac('Client MAC', 'dhcp.hw.mac_addr');
  part.skip(10);
  part.text(64, 'Server name', 'dhcp.server');
  part.text(128, 'Boot file name', 'dhcp.file');
  packet.info = `${operation === 2 ? 'reply' : 'request'}, transaction ${hex(8)(id)}`;
  if (part.left < 4 || part.ip4('Magic cookie', 'dhcp.cookie') !== COOKIE) return;
  while (part.left > 0) {
    const code = part.u8();
    if (code === END) return;
    if (code === 0) continue;
    const body = part.take(part.u8());
    if (code === 53 && body.left === 1) {
      const type = body.u8('Message type', 'dhcp.option.dhcp', named(TYPES));
      const address = yours === '0.0.0.0' ? '' : ` ${yours}`;
      packet.info = `${TYPES[type] ?? `type ${type}`}${address}, transaction ${hex(8)(id)}`;
    } else option(body, code);
  }
}

function option(body: Part, code: number): void {
  const address = ADDRESSES[code];
  const text = TEXTS[code];
  const time = TIMES[code];
  const { left } = body;
  if (address !== undefined && left > 0 && left % 4 === 0) {
    const bytes = body.raw(left);
    const all = Array.from({ length: left / 4 }, (_, index) => ip4Text(bytes.subarray(index * 4, index * 4 + 4)));
    body.note(address, all.join(', '), 'dhcp.option.address', left);
  } else if (text !== undefined) body.text(left, text, 'dhcp.option.text');
  else if (time !== undefined && left === 4) body.u32(time, 'dhcp.option.time', (value) => `${value} s`);
  else body.hex(left, `Option ${code}`, 'dhcp.option');
}
