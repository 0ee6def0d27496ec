// DHCP messages as bytes (RFC 2131, RFC 2132).

const FIXED_BYTES = 236;
const COOKIE = 0x63825363;
const BROADCAST = 0x8000;
/** The shortest message that old relays and clients take (RFC 1542, section 2.1). */
const LEAST_BYTES = 300;

export const OPTION = {
  netmask: 1,
  router: 3,
  dns: 6,
  broadcast: 28,
  requested: 50,
  leaseTime: 51,
  type: 53,
  server: 54,
} as const;

const PAD = 0;
const END = 255;

export const TYPE = { discover: 1, offer: 2, request: 3, decline: 4, ack: 5, nak: 6, release: 7, inform: 8 } as const;

export interface DhcpRequest {
  type: number;
  transaction: number;
  /** Whether the client cannot hear unicast before it has its address. */
  broadcast: boolean;
  /** Addresses as numbers; 0 for none. */
  clientAddress: number;
  relay: number;
  /** Six bytes in hexadecimal. */
  mac: string;
  requested: number | undefined;
  server: number | undefined;
}

/** What a client says; undefined for anything else, and for what is broken. */
export function parseRequest(bytes: Buffer): DhcpRequest | undefined {
  if (bytes.length < FIXED_BYTES + 4 || bytes[0] !== 1 || bytes[1] !== 1 || bytes[2] !== 6) return undefined;
  if (bytes.readUInt32BE(FIXED_BYTES) !== COOKIE) return undefined;
  const options = parseOptions(bytes.subarray(FIXED_BYTES + 4));
  const type = options?.get(OPTION.type);
  if (type?.length !== 1) return undefined;
  const address = (code: number): number | undefined => {
    const value = options!.get(code);
    return value?.length === 4 ? value.readUInt32BE() : undefined;
  };
  return {
    type: type[0]!,
    transaction: bytes.readUInt32BE(4),
    broadcast: (bytes.readUInt16BE(10) & BROADCAST) !== 0,
    clientAddress: bytes.readUInt32BE(12),
    relay: bytes.readUInt32BE(24),
    mac: bytes.toString('hex', 28, 34),
    requested: address(OPTION.requested),
    server: address(OPTION.server),
  };
}

function parseOptions(bytes: Buffer): Map<number, Buffer> | undefined {
  const options = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const code = bytes[at++]!;
    if (code === PAD) continue;
    if (code === END) return options;
    const length = bytes[at++];
    if (length === undefined || at + length > bytes.length) return undefined;
    options.set(code, bytes.subarray(at, at + length));
    at += length;
  }
  return options;
}

export interface DhcpReply {
  type: number;
  /** The client's address; 0 for none. */
  address: number;
  options: [code: number, value: number][];
}

/** The answer to a request; each option's value is four bytes. */
export function replyBytes(
  { transaction, broadcast, clientAddress, mac }: DhcpRequest,
  { type, address, options }: DhcpReply,
): Buffer {
  const fixed = Buffer.alloc(FIXED_BYTES + 4);
  fixed.set([2, 1, 6]);
  fixed.writeUInt32BE(transaction, 4);
  fixed.writeUInt16BE(broadcast ? BROADCAST : 0, 10);
  if (type !== TYPE.nak) fixed.writeUInt32BE(clientAddress, 12);
  fixed.writeUInt32BE(address, 16);
  fixed.write(mac, 28, 'hex');
  fixed.writeUInt32BE(COOKIE, FIXED_BYTES);
  const written = options.map(([code, value]) => {
    const option = Buffer.from([code, 4, 0, 0, 0, 0]);
    option.writeUInt32BE(value, 2);
    return option;
  });
  const message = Buffer.concat([fixed, Buffer.from([OPTION.type, 1, type]), ...written, Buffer.from([END])]);
  return message.length < LEAST_BYTES ? Buffer.concat([message], LEAST_BYTES) : message;
}
