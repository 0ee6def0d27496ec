// The eBPF programs of links to other hosts: one at the VXLAN interface that all links share, which accepts only what
// comes from the link's host with the link's number, and one at each link's interface, which sends its frames there.

import { BpfAssembler } from './bpf-assembler.ts';
import { DROP } from './cable-programs.ts';

/** The other end of a link. */
export interface Remote {
  /** The VXLAN network identifier: 24 bits, of this link only. */
  vni: number;
  /** The IPv4 address of the host, as a number. */
  address: number;
}

/** A remote address and the link's interface: a value of the map of tunnels, whose keys are network identifiers. */
export const TUNNEL_BYTES = 8;

export function encodeTunnel(address: number, index: number): Buffer {
  const bytes = Buffer.alloc(TUNNEL_BYTES);
  bytes.writeUInt32LE(address >>> 0, 0);
  bytes.writeUInt32LE(index, 4);
  return bytes;
}

/** struct bpf_tunnel_key up to and including the IPv4 address. */
const KEY_BYTES = 8;
const KEY_AT = -8;
const ADDRESS_AT = -4;
/** The packets have no checksum, as usual with VXLAN: those within have their own. */
const BPF_F_ZERO_CSUM_TX = 2;
const BPF_F_INGRESS = 1;
const FRAME = 6;
const STACK = 10;

/** For the ingress of the VXLAN interface. */
export function arrivalProgram(tunnels: number): Buffer {
  const program = new BpfAssembler().setFrom('move', FRAME, 1).setFrom('move', 2, STACK).set('add', 2, KEY_AT);
  program.set('move', 3, KEY_BYTES).set('move', 4, 0).call('skb_get_tunnel_key').jumpIf('notEqual', 0, 0, 'drop');
  program.setFrom('move', 2, STACK).set('add', 2, KEY_AT).loadMap(1, tunnels).call('map_lookup_elem');
  program.jumpIf('equal', 0, 0, 'drop').load('word', 1, 0, 0).load('word', 2, STACK, ADDRESS_AT);
  program.setFrom('subtract', 1, 2).jumpIf('notEqual', 1, 0, 'drop');
  program.load('word', 1, 0, 4).set('move', 2, BPF_F_INGRESS).call('redirect').exit();
  return program.label('drop').set('move', 0, DROP).exit().assemble();
}

/** For the egress of a link's interface. */
export function departureProgram({ vni, address }: Remote, vxlanIndex: number): Buffer {
  const program = new BpfAssembler().storeNumber('word', STACK, KEY_AT, vni);
  program.storeNumber('word', STACK, ADDRESS_AT, address).setFrom('move', 2, STACK).set('add', 2, KEY_AT);
  program.set('move', 3, KEY_BYTES).set('move', 4, BPF_F_ZERO_CSUM_TX).call('skb_set_tunnel_key');
  program.jumpIf('notEqual', 0, 0, 'drop').set('move', 1, vxlanIndex).set('move', 2, 0).call('redirect').exit();
  return program.label('drop').set('move', 0, DROP).exit().assemble();
}
