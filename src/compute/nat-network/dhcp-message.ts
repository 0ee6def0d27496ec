// DHCP messages for the server: parses the client's and encodes the answers (RFC 2131).
import { dhcpBytes, MESSAGE, OPTION as PC_OPTION, parseDhcp } from '../../pc/dhcp-message.ts';

export const OPTION = { ...PC_OPTION, broadcast: 28 } as const;
export const TYPE = { ...MESSAGE, inform: 8 } as const;

const REQUEST = 1;
const REPLY = 2;
const ETHERNET = 1;
/** Offset of the flags, and the only flag. */
const FLAGS = 10;
const BROADCAST = 0x8000;

export interface DhcpRequest {
  type: number;
  transaction: number;
  /** Whether the client cannot receive unicast before it has its address. */
  broadcast: boolean;
  /** Addresses as numbers; 0 for none. */
  clientAddress: number;
  relay: number;
  /** Six bytes in hexadecimal. */
  mac: string;
  requested: number | undefined;
  server: number | undefined;
}

/** Parses a client's message; undefined for other or invalid ones. */
export function parseRequest(bytes: Buffer): DhcpRequest | undefined {
  const message = parseDhcp(bytes);
  const type = message?.options.get(OPTION.type);
  if (message?.operation !== REQUEST || bytes[1] !== ETHERNET || type?.length !== 1) return undefined;
  const address = (code: number): number | undefined => {
    const value = message.options.get(code);
    return value?.length === 4 ? value.readUInt32BE() : undefined;
  };
  return {
    type: type[0]!,
    transaction: message.transaction,
    broadcast: (bytes.readUInt16BE(FLAGS) & BROADCAST) !== 0,
    clientAddress: message.client.readUInt32BE(),
    relay: message.relay.readUInt32BE(),
    mac: message.mac.toString('hex'),
    requested: address(OPTION.requested),
    server: address(OPTION.server),
  };
}

export interface DhcpReply {
  type: number;
  /** The client's address; 0 for none. */
  address: number;
  options: [code: number, value: number][];
}

/** The answer to a request; each option's value is four bytes. */
export function replyBytes(request: DhcpRequest, { type, address, options }: DhcpReply): Buffer {
  const written = options.map(([code, value]): [number, Buffer] => [code, fourBytes(value)]);
  return dhcpBytes(
    {
      operation: REPLY,
      transaction: request.transaction,
      client: fourBytes(type === TYPE.nak ? 0 : request.clientAddress),
      yours: fourBytes(address),
      mac: Buffer.from(request.mac, 'hex'),
      options: new Map([[OPTION.type, Buffer.from([type])], ...written]),
    },
    request.broadcast,
  );
}

export function fourBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
