// Internet Protocol, version 4 (RFC 791).
import { type Transport, transportName } from './ip-protocols.ts';
import { hex, type Part } from './packet-part.ts';

const LEAST_HEADER_BYTES = 20;

export function ipv4(part: Part, transport: Transport): void {
  const { packet } = part;
  const begin = part.at;
  part.begin('ip', 'IPv4');
  packet.says('IPv4', '');
  const first = part.u8(
    'Version and header length',
    'ip.version',
    (value) => `${value >> 4}, ${(value & 15) * 4} bytes`,
  );
  const headerBytes = (first & 15) * 4;
  part.u8('Differentiated services', 'ip.dsfield', hex(2));
  const length = part.u16('Total length', 'ip.len');
  part.u16('Identification', 'ip.id', hex(4));
  const fragment = part.u16('Flags and offset', 'ip.flags', fragmentText);
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
  const offset = fragment & 0x1fff;
  if (offset > 0) packet.info = `fragment of ${transportName(protocol)} at ${offset * 8}`;
  else transport(rest, protocol);
  if (offset === 0 && fragment & 0x2000) packet.info += ' (first fragment)';
}

function fragmentText(value: number): string {
  const flags = [value & 0x4000 && 'do not fragment', value & 0x2000 && 'more fragments'].filter(Boolean);
  return [...flags, `offset ${(value & 0x1fff) * 8}`].join(', ');
}
