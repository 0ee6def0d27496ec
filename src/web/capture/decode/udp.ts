// User Datagram Protocol (RFC 768); passes the payload on by port.
import { dhcp } from './dhcp.ts';
import { dns } from './dns.ts';
import { hsrp } from './hsrp.ts';
import { type Decoder, hex, type Part } from './packet-part.ts';
import { rip, ripng } from './rip.ts';

const HEADER_BYTES = 8;

const PORTS: Readonly<Record<number, Decoder>> = {
  53: (part) => dns(part, 'DNS'),
  67: dhcp,
  68: dhcp,
  520: rip,
  521: ripng,
  1985: hsrp,
  2029: hsrp,
  5353: (part) => dns(part, 'MDNS'),
};

export function udp(part: Part): void {
  const { packet } = part;
  part.begin('udp', 'UDP');
  packet.says('UDP', '');
  const from = part.u16('Source port', 'udp.srcport');
  const to = part.u16('Destination port', 'udp.dstport');
  const length = part.u16('Length', 'udp.length');
  part.u16('Checksum', 'udp.checksum', hex(4));
  part.close();
  const data = part.atMost(length - HEADER_BYTES);
  packet.info = `${from} > ${to} len ${Math.max(0, length - HEADER_BYTES)}`;
  const decoder = PORTS[to] ?? PORTS[from];
  if (decoder && data.left > 0) decoder(data);
}
