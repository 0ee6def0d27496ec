// One-line summaries of the frames in the demonstration: Ethernet with ARP, ICMP and other IPv4.

const ETHERNET_BYTES = 14;
const ARP_BYTES = 28;
const IPV4_BYTES = 20;
const ICMP_BYTES = 8;

const ETHER_TYPES: Readonly<Record<number, string>> = { 33024: 'VLAN', 34525: 'IPv6', 35020: 'LLDP' };
const PROTOCOLS: Readonly<Record<number, string>> = { 2: 'IGMP', 6: 'TCP', 17: 'UDP', 89: 'OSPF' };

function macAddress(bytes: Buffer): string {
  return bytes.toString('hex').replace(/..(?!$)/g, '$&:');
}

function address(bytes: Buffer): string {
  return [...bytes].join('.');
}

function arp(packet: Buffer): string {
  if (packet.length < ARP_BYTES) return 'ARP, cut off';
  const operation = packet.readUInt16BE(6);
  const [sender, target] = [address(packet.subarray(14, 18)), address(packet.subarray(24, 28))];
  if (operation === 2) return `ARP   ${sender} is at ${macAddress(packet.subarray(8, 14))}`;
  if (operation !== 1) return `ARP   operation ${operation}`;
  return sender === target ? `ARP   does anybody else have ${target}?` : `ARP   who has ${target}? Tell ${sender}`;
}

function icmp(message: Buffer): string {
  if (message.length < ICMP_BYTES) return ', cut off';
  const [type = 0, code = 0] = message;
  if (type !== 0 && type !== 8) return ` type ${type} code ${code}`;
  return ` echo ${type === 8 ? 'request' : 'reply'}, sequence ${message.readUInt16BE(6)}`;
}

function ipv4(packet: Buffer): string {
  if (packet.length < IPV4_BYTES) return 'IPv4, cut off';
  const headerBytes = (packet[0]! & 15) * 4;
  const protocol = packet[9]!;
  const ends = `${address(packet.subarray(12, 16))} > ${address(packet.subarray(16, 20))}`;
  if (protocol === 1) return `ICMP  ${ends}${icmp(packet.subarray(headerBytes))}`;
  return `IPv4  ${ends} ${PROTOCOLS[protocol] ?? `protocol ${protocol}`}`;
}

/** An Ethernet frame (without preamble and checksum) in one line: who to whom, and what. */
export function describeFrame(frame: Buffer): string {
  if (frame.length < ETHERNET_BYTES) return `${frame.length} bytes, too short for Ethernet`;
  const [to, from] = [macAddress(frame.subarray(0, 6)), macAddress(frame.subarray(6, 12))];
  const type = frame.readUInt16BE(12);
  const packet = frame.subarray(ETHERNET_BYTES);
  return `${from} > ${to === 'ff:ff:ff:ff:ff:ff' ? 'everybody        ' : to}  ${content(type, packet)}`;
}

function content(type: number, packet: Buffer): string {
  if (type === 0x0800) return ipv4(packet);
  if (type === 0x0806) return arp(packet);
  // Up to 1,500 the field is the length of an IEEE 802.3 frame.
  if (type <= 1500) return `802.3, ${type} bytes`;
  return ETHER_TYPES[type] ?? `type 0x${type.toString(16).padStart(4, '0')}`;
}
