// Encodes and decodes DHCP messages (RFC 2131, 2132).

export const MESSAGE = { discover: 1, offer: 2, request: 3, decline: 4, ack: 5, nak: 6, release: 7 } as const;
export const OPTION = {
  mask: 1,
  router: 3,
  dns: 6,
  hostName: 12,
  domain: 15,
  requested: 50,
  lease: 51,
  type: 53,
  server: 54,
  wanted: 55,
  renewal: 58,
  rebinding: 59,
  client: 61,
} as const;

const FIXED_BYTES = 240;
/** BOOTP relays and servers may drop shorter ones. */
const SHORTEST_BYTES = 300;
const COOKIE = 0x6382_5363;
const BROADCAST_FLAG = 0x8000;
const PAD = 0;
const END = 255;

export interface DhcpMessage {
  operation: number;
  transaction: number;
  client: Buffer;
  yours: Buffer;
  server: Buffer;
  relay: Buffer;
  mac: Buffer;
  options: Map<number, Buffer>;
}

/** A client's message, or with `yours` (the client's new address) a server's. */
export function dhcpBytes(
  message: Omit<DhcpMessage, 'yours' | 'server' | 'relay'> & { yours?: Buffer },
  broadcast: boolean,
): Buffer {
  const fixed = Buffer.alloc(FIXED_BYTES);
  fixed[0] = message.operation;
  fixed[1] = 1;
  fixed[2] = 6;
  fixed.writeUInt32BE(message.transaction, 4);
  fixed.writeUInt16BE(broadcast ? BROADCAST_FLAG : 0, 10);
  message.client.copy(fixed, 12);
  message.yours?.copy(fixed, 16);
  message.mac.copy(fixed, 28);
  fixed.writeUInt32BE(COOKIE, 236);
  const options = [...message.options].flatMap(([code, bytes]) => [Buffer.from([code, bytes.length]), bytes]);
  const whole = Buffer.concat([fixed, ...options, Buffer.from([END])]);
  return Buffer.concat([whole, Buffer.alloc(Math.max(0, SHORTEST_BYTES - whole.length))]);
}

/** Decodes a message; undefined if invalid. Its buffers are copies. */
export function parseDhcp(data: Buffer): DhcpMessage | undefined {
  if (data.length < FIXED_BYTES || data.readUInt32BE(236) !== COOKIE || data[2] !== 6) return undefined;
  const bytes = Buffer.from(data);
  const options = new Map<number, Buffer>();
  for (let at = FIXED_BYTES; at < bytes.length && bytes[at] !== END; ) {
    if (bytes[at] === PAD) {
      at++;
      continue;
    }
    const end = at + 2 + (bytes[at + 1] ?? 0);
    if (end > bytes.length) break;
    options.set(bytes[at]!, bytes.subarray(at + 2, end));
    at = end;
  }
  return {
    operation: bytes[0]!,
    transaction: bytes.readUInt32BE(4),
    client: bytes.subarray(12, 16),
    yours: bytes.subarray(16, 20),
    server: bytes.subarray(20, 24),
    relay: bytes.subarray(24, 28),
    mac: bytes.subarray(28, 34),
    options,
  };
}

const NAMES = ['', 'Discover', 'Offer', 'Request', 'Decline', 'Ack', 'Nak', 'Release'];

/** The message as lines of text. */
export function describeDhcp({ operation, client, yours, server, relay, mac, options }: DhcpMessage): string[] {
  const hex = mac.toString('hex').replace(/(..)(?!$)/g, '$1:');
  const lines = [
    `Opcode: ${operation} (${operation === 1 ? 'REQUEST' : 'REPLY'})`,
    `Client IP Address: ${client.join('.')}`,
    `Your IP Address: ${yours.join('.')}`,
    `Server IP Address: ${server.join('.')}`,
    `Gateway IP Address: ${relay.join('.')}`,
    `Client MAC Address: ${hex}`,
  ];
  for (const [code, bytes] of options) lines.push(`Option ${code}: ${describeOption(code, bytes)}`);
  return lines;
}

function addresses(bytes: Buffer): string {
  return Array.from({ length: bytes.length >> 2 }, (_, nth) => bytes.subarray(nth * 4, nth * 4 + 4).join('.')).join(
    ' ',
  );
}

function describeOption(code: number, bytes: Buffer): string {
  const seconds = bytes.length === 4 ? bytes.readUInt32BE() : 0;
  // Text from the network must not steer the user's terminal.
  const text = (): string => bytes.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
  switch (code) {
    case OPTION.type:
      return `Message Type = ${NAMES[bytes[0] ?? 0] ?? bytes[0]}`;
    case OPTION.mask:
      return `Subnet Mask = ${addresses(bytes)}`;
    case OPTION.router:
      return `Router = ${addresses(bytes)}`;
    case OPTION.dns:
      return `DNS Server = ${addresses(bytes)}`;
    case OPTION.hostName:
      return `Host Name = ${text()}`;
    case OPTION.domain:
      return `Domain Name = ${text()}`;
    case OPTION.requested:
      return `Requested IP Address = ${addresses(bytes)}`;
    case OPTION.server:
      return `DHCP Server = ${addresses(bytes)}`;
    case OPTION.lease:
      return `Lease Time = ${seconds}`;
    case OPTION.renewal:
      return `Renewal Time = ${seconds}`;
    case OPTION.rebinding:
      return `Rebinding Time = ${seconds}`;
    case OPTION.client:
      return `Client Identifier = Hardware Type=Ethernet MAC Address = ${bytes.toString('hex', 1).replace(/(..)(?!$)/g, '$1:')}`;
    default:
      return bytes.toString('hex');
  }
}
