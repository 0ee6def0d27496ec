// Decodes the payload of IP by its protocol number.
import { eigrp } from './eigrp.ts';
import { icmp } from './icmp.ts';
import { icmpv6 } from './icmpv6.ts';
import { ipv4 } from './ipv4.ts';
import { ipv6 as ipv6Header } from './ipv6.ts';
import { ospf } from './ospf.ts';
import type { Decoder, Part } from './packet-part.ts';
import { tcp } from './tcp.ts';
import { udp } from './udp.ts';
import { vrrp } from './vrrp.ts';

const DECODERS: Readonly<Record<number, Decoder>> = {
  1: icmp,
  4: ip,
  6: tcp,
  17: udp,
  41: ipv6,
  58: icmpv6,
  88: eigrp,
  89: ospf,
  112: vrrp,
};

function transport(part: Part, protocol: number): void {
  DECODERS[protocol]?.(part);
}

export function ip(part: Part): void {
  ipv4(part, transport);
}

export function ipv6(part: Part): void {
  ipv6Header(part, transport);
}
