// Border Gateway Protocol (RFC 4271). A segment may hold several messages.
import type { FieldName } from './field-names.ts';
import { named, type Part } from './packet-part.ts';

const TYPES: Readonly<Record<number, string>> = {
  1: 'open',
  2: 'update',
  3: 'notification',
  4: 'keepalive',
  5: 'route refresh',
};
const HEADER_BYTES = 19;

export function bgp(part: Part): void {
  const { packet } = part;
  while (part.left >= HEADER_BYTES) {
    // Without the marker, the message began in an earlier segment.
    if (!Array.from({ length: 16 }, (_, index) => part.peek(index)).every((byte) => byte === 255)) return;
    part.begin('bgp', 'BGP');
    part.hex(16, 'Marker', 'bgp.marker');
    const length = part.u16('Length', 'bgp.length');
    const type = part.u8('Message type', 'bgp.type', named(TYPES));
    if (packet.protocol !== 'BGP') packet.says('BGP', '');
    packet.adds(TYPES[type] ?? `type ${type}`);
    if (length < HEADER_BYTES) return;
    const body = part.atMost(length - HEADER_BYTES);
    part.close();
    if (type === 1) packet.info += open(body);
    else if (type === 2) packet.info += update(body);
    else if (type === 3) {
      packet.info += ` error ${body.u8('Error', 'bgp.notify.major_error')}/${body.u8('Suberror', 'bgp.notify.minor_error')}`;
    }
  }
}

function open(body: Part): string {
  body.u8('Version', 'bgp.open.version');
  const system = body.u16('Autonomous system', 'bgp.open.myas');
  body.u16('Hold time', 'bgp.open.holdtime', (value) => `${value} s`);
  const router = body.ip4('Router', 'bgp.open.identifier');
  const options = body.atMost(body.u8('Length of options', 'bgp.open.opt.len'));
  if (options.left > 0) options.hex(options.left, 'Options');
  return ` AS ${system}, router ${router}`;
}

function update(body: Part): string {
  const withdrawn = prefixes(body.atMost(body.u16('Length of withdrawn routes')), 'Withdrawn', 'bgp.withdrawn_prefix');
  attributes(body.atMost(body.u16('Length of attributes')));
  const reached = prefixes(body, 'Reachable', 'bgp.nlri_prefix');
  const shown = reached.slice(0, 4).join(' ');
  return `${withdrawn.length > 0 ? ` ${withdrawn.length} withdrawn` : ''}${reached.length > 0 ? ` ${shown}` : ''}`;
}

function prefixes(part: Part, label: string, key: FieldName): string[] {
  const found: string[] = [];
  while (part.left > 0) {
    const bits = part.u8();
    if (bits > 32) return found;
    const bytes = part.raw(Math.ceil(bits / 8));
    const address = [...bytes, 0, 0, 0, 0].slice(0, 4).join('.');
    const text = `${address}/${bits}`;
    part.note(label, text, key, bytes.length + 1, address);
    found.push(text);
  }
  return found;
}

const ATTRIBUTES: Readonly<Record<number, string>> = {
  1: 'Origin',
  2: 'AS path',
  3: 'Next hop',
  4: 'Metric',
  5: 'Local preference',
  8: 'Communities',
};

function attributes(part: Part): void {
  while (part.left >= 3) {
    const flags = part.u8();
    const type = part.u8();
    const length = flags & 16 ? part.u16() : part.u8();
    const body = part.take(length);
    const label = ATTRIBUTES[type] ?? `Attribute ${type}`;
    if (type === 3 && length === 4) body.ip4(label, 'bgp.update.path_attribute.next_hop');
    else if ((type === 4 || type === 5) && length === 4) body.u32(label);
    else body.hex(length, label);
  }
}
