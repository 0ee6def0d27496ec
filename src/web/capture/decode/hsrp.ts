// Cisco's Hot Standby Router Protocol: version 1 (RFC 2281) and version 2 (TLVs).
import { named, type Part } from './packet-part.ts';

const OPERATIONS: Readonly<Record<number, string>> = { 0: 'hello', 1: 'coup', 2: 'resign', 3: 'advertise' };
const STATES: Readonly<Record<number, string>> = {
  0: 'initial',
  1: 'learn',
  2: 'listen',
  4: 'speak',
  8: 'standby',
  16: 'active',
};
/** States of version 2. */
const STATES2: Readonly<Record<number, string>> = {
  0: 'disabled',
  1: 'initial',
  2: 'learn',
  3: 'listen',
  4: 'speak',
  5: 'standby',
  6: 'active',
};

export function hsrp(part: Part): void {
  part.begin('hsrp', 'HSRP');
  // Version 1 starts with its version, 0; version 2 with the type of a TLV.
  if (part.peek() === 0) version1(part);
  else version2(part);
}

function version1(part: Part): void {
  const { packet } = part;
  packet.says('HSRP', '');
  part.u8('Version', 'hsrp.version');
  const operation = part.u8('Operation', 'hsrp.opcode', named(OPERATIONS));
  packet.info = OPERATIONS[operation] ?? `operation ${operation}`;
  if (operation === 3) return;
  const state = part.u8('State', 'hsrp.state', named(STATES));
  part.u8('Hello time', 'hsrp.hellotime', (value) => `${value} s`);
  part.u8('Hold time', 'hsrp.holdtime', (value) => `${value} s`);
  const priority = part.u8('Priority', 'hsrp.priority');
  const group = part.u8('Group', 'hsrp.group');
  part.skip(1);
  part.text(8, 'Authentication', 'hsrp.auth_data');
  const address = part.ip4('Virtual address', 'hsrp.virt_ip');
  packet.info += `, ${STATES[state] ?? `state ${state}`}, group ${group}, priority ${priority}, ${address}`;
}

function version2(part: Part): void {
  const { packet } = part;
  packet.says('HSRPv2', '');
  while (part.left >= 2) {
    const type = part.u8();
    const body = part.take(part.u8());
    if (type !== 1) {
      body.hex(body.left, `Value of type ${type}`);
      continue;
    }
    body.u8('Version', 'hsrp2.version');
    const operation = body.u8('Operation', 'hsrp2.opcode', named(OPERATIONS));
    const state = body.u8('State', 'hsrp2.state', named(STATES2));
    const family = body.u8('Address family', 'hsrp2.ipversion');
    const group = body.u16('Group', 'hsrp2.group');
    body.mac('Identifier', 'hsrp2.identifier');
    const priority = body.u32('Priority', 'hsrp2.priority');
    body.u32('Hello time', 'hsrp2.hellotime', (value) => `${value} ms`);
    body.u32('Hold time', 'hsrp2.holdtime', (value) => `${value} ms`);
    const address =
      family === 6 ? body.ip6('Virtual address', 'hsrp2.virt_ip_v6') : body.ip4('Virtual address', 'hsrp2.virt_ip');
    packet.info = `${OPERATIONS[operation] ?? `operation ${operation}`}, ${STATES2[state] ?? `state ${state}`}, group ${group}, priority ${priority}, ${address}`;
  }
}
