// Enhanced Interior Gateway Routing Protocol (RFC 7868).
import { hex, named, type Part } from './packet-part.ts';

const OPERATIONS: Readonly<Record<number, string>> = {
  1: 'update',
  2: 'request',
  3: 'query',
  4: 'reply',
  5: 'hello',
  10: 'SIA query',
  11: 'SIA reply',
};
const VALUES: Readonly<Record<number, string>> = {
  1: 'Parameters',
  2: 'Authentication',
  3: 'Sequence',
  4: 'Software version',
  5: 'Next multicast sequence',
  258: 'Internal route',
  259: 'External route',
  1538: 'Internal route',
  1539: 'External route',
};

export function eigrp(part: Part): void {
  const { packet } = part;
  part.begin('eigrp', 'EIGRP');
  packet.says('EIGRP', '');
  part.u8('Version', 'eigrp.version');
  const operation = part.u8('Operation', 'eigrp.opcode', named(OPERATIONS));
  part.u16('Checksum', 'eigrp.checksum', hex(4));
  part.u32('Flags', 'eigrp.flags', hex(8));
  const sequence = part.u32('Sequence', 'eigrp.seq');
  const acknowledged = part.u32('Acknowledgement', 'eigrp.ack');
  part.u16('Virtual router', 'eigrp.vrid');
  const system = part.u16('Autonomous system', 'eigrp.as');
  const isAck = operation === 5 && acknowledged !== 0;
  packet.info = `${isAck ? 'acknowledgement' : (OPERATIONS[operation] ?? `operation ${operation}`)}, AS ${system}`;
  if (sequence > 0) packet.info += `, sequence ${sequence}`;
  while (part.left >= 4) {
    const type = part.u16();
    const length = part.u16();
    if (length < 4) return;
    const body = part.take(length - 4);
    body.hex(body.left, VALUES[type] ?? `Value of type ${hex(4)(type)}`, 'eigrp.tlv');
  }
}
