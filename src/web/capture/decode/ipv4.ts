// Internet Protocol, version 4 (RFC 791).
import { offsetText, type Transport, transportName } from './ip-protocols.ts';
import { hex, type Part } from './packet-part.ts';

const LEAST_HEADER_BYTES = 20;

export function ipv4(part: Part, transport: Transport): void {
  const { packet } = part;
  const begin = part.at;
  part.begin('ip', 'IPv4');
  packet.says('IPv4', '');
  const first = part.u8();
  const headerBytes = (first & 15) * 4;
  part.noteNumber('Version', first >> 4, 'ip.version', 1);
  part.noteNumber('Header length', headerBytes, 'ip.hdr_len', 1, (value) => `${value} bytes`);
  part.u8('Differentiated services', 'ip.dsfield', hex(2));
  const length = part.u16('Total length', 'ip.len');
  part.u16('Identification', 'ip.id', hex(4));
  const fragment = part.u16();
  const offset = fragment & 0x1fff;
  part.noteNumber('Flags', fragment >> 13, 'ip.flags', 2, flagText);
  part.noteNumber('Fragment offset', offset, 'ip.frag_offset', 2, offsetText);
  part.u8('Time to live', 'ip.ttl');
  const protocol = part.u8('Protocol', 'ip.proto', (value) => `${transportName(value)} (${value})`);
  part.u16('Header checksum', 'ip.checksum', hex(4));
  packet.between(part.ip4('Source', 'ip.src'), part.ip4('Destination', 'ip.dst'));
  packet.info = transportName(protocol);
  if (headerBytes < LEAST_HEADER_BYTES) return;
  if (headerBytes > LEAST_HEADER_BYTES) part.hex(headerBytes - LEAST_HEADER_BYTES, 'Options', 'ip.options');
  part.close();
  // Short frames are padded. With segmentation offload the sender may leave the length 0.
  const rest = part.atMost(length === 0 ? part.sent : length - (part.at - begin));
  if (offset > 0) packet.info = `fragment of ${transportName(protocol)} at ${offset * 8}`;
  else transport(rest, protocol);
  if (offset === 0 && fragment & 0x2000) packet.info += ' (first fragment)';
}

function flagText(flags: number): string {
  return [flags & 2 && 'do not fragment', flags & 1 && 'more fragments'].filter(Boolean).join(', ') || 'none';
}
