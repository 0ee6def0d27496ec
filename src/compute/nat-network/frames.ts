// The few frames that the DHCP service of the NAT network reads and writes as bytes: DHCP over UDP, and ARP.

const ETHERNET_BYTES = 14;
const IPV4_BYTES = 20;
const UDP_BYTES = 8;
const TYPE_IPV4 = 0x0800;
const TYPE_ARP = 0x0806;
const PROTOCOL_UDP = 17;
const SERVER_PORT = 67;
const CLIENT_PORT = 68;
const BROADCAST_MAC = 'ffffffffffff';
const BROADCAST_ADDRESS = 0xffffffff;

/** The DHCP message of a client's frame; undefined if it holds none. */
export function clientMessage(frame: Buffer): Buffer | undefined {
  if (frame.length < ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES || frame.readUInt16BE(12) !== TYPE_IPV4) return undefined;
  const packet = frame.subarray(ETHERNET_BYTES);
  const headerBytes = (packet[0]! & 15) * 4;
  const fragment = packet.readUInt16BE(6) & 0x3fff;
  const total = packet.readUInt16BE(2);
  if (packet[0]! >> 4 !== 4 || headerBytes < IPV4_BYTES || packet[9] !== PROTOCOL_UDP || fragment !== 0)
    return undefined;
  if (total > packet.length || headerBytes + UDP_BYTES > total) return undefined;
  const datagram = packet.subarray(headerBytes, total);
  const length = datagram.readUInt16BE(4);
  if (datagram.readUInt16BE(2) !== SERVER_PORT || length < UDP_BYTES || length > datagram.length) return undefined;
  return datagram.subarray(UDP_BYTES, length);
}

/** The address whose owner an ARP answer names; undefined for any other frame. */
export function arpSender(frame: Buffer): number | undefined {
  if (frame.length < ETHERNET_BYTES + 28 || frame.readUInt16BE(12) !== TYPE_ARP) return undefined;
  const arp = frame.subarray(ETHERNET_BYTES);
  return arp.readUInt16BE(6) === 2 ? arp.readUInt32BE(14) : undefined;
}

/** "Who has this address?", asked by somebody who has none (RFC 5227, section 2.1.1). MACs are in hexadecimal. */
export function arpProbe(mac: string, address: number): Buffer {
  const arp = Buffer.alloc(28);
  arp.writeUInt16BE(1, 0);
  arp.writeUInt16BE(TYPE_IPV4, 2);
  arp.set([6, 4], 4);
  arp.writeUInt16BE(1, 6);
  arp.write(mac, 8, 'hex');
  arp.writeUInt32BE(address, 24);
  return Buffer.concat([ethernet(BROADCAST_MAC, mac, TYPE_ARP), arp], 60);
}

export interface Reply {
  /** Our MAC, and that of the client, in hexadecimal; undefined: everybody's. */
  mac: string;
  client: string | undefined;
  /** Of the server and of the client, if that has one and hears it. */
  from: number;
  to: number;
  message: Buffer;
}

/** A server's frame with a DHCP message; the client's address and MAC go together: everybody gets it without them. */
export function serverFrame({ mac, client, from, to, message }: Reply): Buffer {
  const datagram = Buffer.alloc(UDP_BYTES + message.length);
  datagram.writeUInt16BE(SERVER_PORT, 0);
  datagram.writeUInt16BE(CLIENT_PORT, 2);
  datagram.writeUInt16BE(datagram.length, 4);
  message.copy(datagram, UDP_BYTES);
  const header = Buffer.alloc(IPV4_BYTES);
  header[0] = 0x45;
  header.writeUInt16BE(IPV4_BYTES + datagram.length, 2);
  header.set([64, PROTOCOL_UDP], 8);
  header.writeUInt32BE(from, 12);
  header.writeUInt32BE(client === undefined ? BROADCAST_ADDRESS : to, 16);
  header.writeUInt16BE(checksum(header), 10);
  const pseudo = Buffer.concat([header.subarray(12), Buffer.from([0, PROTOCOL_UDP]), datagram.subarray(4, 6)]);
  datagram.writeUInt16BE(checksum(Buffer.concat([pseudo, datagram])) || 0xffff, 6);
  return Buffer.concat([ethernet(client ?? BROADCAST_MAC, mac, TYPE_IPV4), header, datagram]);
}

function ethernet(to: string, from: string, type: number): Buffer {
  const header = Buffer.from(`${to}${from}0000`, 'hex');
  header.writeUInt16BE(type, 12);
  return header;
}

/** The Internet checksum (RFC 1071). */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  if (bytes.length % 2 === 1) sum += bytes[bytes.length - 1]! << 8;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
