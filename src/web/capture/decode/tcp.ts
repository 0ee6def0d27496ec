// Transmission Control Protocol (RFC 9293).
import { hostInUrl } from '../../../api/host-in-url.ts';
import { bgp } from './bgp.ts';
import { dnsOverTcp } from './dns.ts';
import { hex, type Part } from './packet-part.ts';

const FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG', 'ECE', 'CWR'];
const LEAST_HEADER_BYTES = 20;
const BGP_PORT = 179;
const DNS_PORT = 53;

export function tcp(part: Part): void {
  const { packet } = part;
  part.begin('tcp', 'TCP');
  packet.says('TCP', '');
  const from = part.u16('Source port', 'tcp.srcport');
  const to = part.u16('Destination port', 'tcp.dstport');
  packet.info = `${from} > ${to}`;
  const sequence = part.u32('Sequence', 'tcp.seq_raw');
  const acknowledged = part.u32('Acknowledgement', 'tcp.ack_raw');
  const first = part.u8();
  const headerBytes = (first >> 4) * 4;
  part.noteNumber('Header length', headerBytes, 'tcp.hdr_len', 1, (value) => `${value} bytes`);
  const bits = part.u8();
  part.noteNumber('Flags', ((first & 15) << 8) | bits, 'tcp.flags', 2, flagText);
  const window = part.u16('Window', 'tcp.window_size_value');
  part.u16('Checksum', 'tcp.checksum', hex(4));
  part.u16('Urgent pointer', 'tcp.urgent_pointer');
  packet.info += ` [${flagText(bits)}] seq ${sequence}`;
  if (bits & 16) packet.info += ` ack ${acknowledged}`;
  packet.info += ` win ${window}`;
  if (headerBytes < LEAST_HEADER_BYTES) return;
  if (headerBytes > LEAST_HEADER_BYTES) part.hex(headerBytes - LEAST_HEADER_BYTES, 'Options', 'tcp.options');
  part.close();
  const { at: begin, end } = part;
  const ends = { from: endOf(packet.source, from), to: endOf(packet.target, to) };
  packet.segment = { ...ends, sequence, acknowledged, flags: bits, begin, end, cut: part.sent - part.left };
  packet.info += ` len ${part.sent}`;
  if (part.left === 0) return;
  if (from === BGP_PORT || to === BGP_PORT) bgp(part.take());
  else if (from === DNS_PORT || to === DNS_PORT) dnsOverTcp(part.take());
}

const endOf = (address: string, port: number): string => `${hostInUrl(address)}:${port}`;

function flagText(bits: number): string {
  return FLAGS.filter((_, index) => bits & (1 << index)).join(', ') || 'none';
}
