// The eBPF programs of kernel links. Each node's interface has `nodeProgram` at its ingress: one look into a map decides
// where a frame goes, to the other node or to the fabric, so that no change of the map can lose or double a frame.

import { BpfAssembler, type Register } from './bpf-assembler.ts';

/** Answer of a program that drops the frame (TC_ACT_SHOT). */
export const DROP = 2;
/** Answer of a program that has redirected the frame (TC_ACT_REDIRECT). */
export const REDIRECT = 7;

/** Where a node's frames go: a value of the map of ways. */
export const WAY_BYTES = 8;
/** Frames and bytes that one node has sent in the kernel: a value of the map of counters. */
export const COUNTER_BYTES = 16;

/** Offsets in struct __sk_buff (linux/bpf.h). */
export const SKB = { length: 0, protocol: 16, vlanPresent: 20, gsoSize: 176 } as const;

const ETHERNET_BYTES = 14;
const IP6_BYTES = 40;
const VLAN_BYTES = 4;
const UDP_BYTES = 8;
const PROTOCOL_TCP = 6;
const PROTOCOL_UDP = 17;
/** EtherTypes as the kernel has them in memory. */
const IP4 = 0x0008;
const IP6 = 0xdd86;

const FRAME = 6;
const WAY = 7;
const BYTES = 8;
const FRAMES = 9;
const STACK = 10;
const KEY_AT = -4;
const BYTE_AT = -8;

/** Encodes a way: frames go to the interface with this index, and are counted if it is another node's. */
export function encodeWay(index: number, isKernel: boolean): Buffer {
  const bytes = Buffer.alloc(WAY_BYTES);
  bytes.writeUInt32LE(index, 0);
  bytes.writeUInt32LE(isKernel ? 1 : 0, 4);
  return bytes;
}

/** For the ingress of the fabric's own interface of a port: frames go out by the node's interface. */
export function relayProgram(nodeIndex: number): Buffer {
  return new BpfAssembler().set('move', 1, nodeIndex).set('move', 2, 0).call('redirect').exit().assemble();
}

/**
 * For the ingress of a node's interface: looks the way of port `number` up and redirects the frame there. Frames to
 * another node are counted as they would be on a cable: a super-frame as all the frames it is cut into.
 */
export function nodeProgram(number: number, ways: number, counters: number): Buffer {
  const program = new BpfAssembler().setFrom('move', FRAME, 1).storeNumber('word', STACK, KEY_AT, number);
  lookUp(program, ways).jumpIf('equal', 0, 0, 'drop').load('double', WAY, 0, 0);
  // The upper half says whether the target is another node. A shift by 32 leaves it.
  program.setFrom('move', 1, WAY).set('shiftRight', 1, 32).jumpIf('equal', 1, 0, 'redirect');

  program.load('word', BYTES, FRAME, SKB.length).set('move', FRAMES, 1);
  program.load('word', 1, FRAME, SKB.gsoSize).jumpIf('notEqual', 1, 0, 'superFrame');
  program.label('tag').load('word', 1, FRAME, SKB.vlanPresent).jumpIf('equal', 1, 0, 'count');
  program.setFrom('move', 1, FRAMES).set('multiply', 1, VLAN_BYTES).setFrom('add', BYTES, 1);
  program.label('count');
  lookUp(program, counters).jumpIf('equal', 0, 0, 'drop').atomicAdd(0, 0, FRAMES).atomicAdd(0, 8, BYTES);

  program.label('redirect').setFrom('move', 1, WAY).set('shiftLeft', 1, 32).set('shiftRight', 1, 32);
  program.set('move', 2, 0).call('redirect').exit();
  program.label('drop').set('move', 0, DROP).exit();
  countSegments(program);
  return program.assemble();
}

/** r0 = the map's value for the key on the stack, or 0. */
function lookUp(program: BpfAssembler, map: number): BpfAssembler {
  return program.setFrom('move', 2, STACK).set('add', 2, KEY_AT).loadMap(1, map).call('map_lookup_elem');
}

/** target = the frame's byte at offset r4; a frame that is too short is counted as one. Changes r0 to r5. */
function readByte(program: BpfAssembler, target: Register): BpfAssembler {
  program
    .setFrom('move', 1, FRAME)
    .setFrom('move', 2, 4)
    .setFrom('move', 3, STACK)
    .set('add', 3, BYTE_AT)
    .set('move', 4, 1);
  return program.call('skb_load_bytes').jumpIf('notEqual', 0, 0, 'one').load('byte', target, STACK, BYTE_AT);
}

/** FRAMES = segments of the super-frame, BYTES = their length with a copy of the headers in each. */
function countSegments(program: BpfAssembler): void {
  program.label('superFrame').load('word', 1, FRAME, SKB.protocol);
  program.jumpIf('equal', 1, IP4, 'ip4').jumpIf('equal', 1, IP6, 'ip6').jump('tag');

  program.label('ip4').set('move', 4, ETHERNET_BYTES);
  readByte(program, FRAMES).set('and', FRAMES, 0x0f).set('shiftLeft', FRAMES, 2).set('add', FRAMES, ETHERNET_BYTES);
  program.set('move', 4, ETHERNET_BYTES + 9);
  readByte(program, 5).jump('transport');

  program
    .label('ip6')
    .set('move', FRAMES, ETHERNET_BYTES + IP6_BYTES)
    .set('move', 4, ETHERNET_BYTES + 6);
  readByte(program, 5);

  // FRAMES is the offset of the transport header here, and afterwards the length of all headers.
  program.label('transport').jumpIf('equal', 5, PROTOCOL_TCP, 'tcp').jumpIf('equal', 5, PROTOCOL_UDP, 'udp');
  program.label('one').set('move', FRAMES, 1).jump('tag');
  program.label('tcp').setFrom('move', 4, FRAMES).set('add', 4, 12);
  readByte(program, 5).set('shiftRight', 5, 4).set('shiftLeft', 5, 2).setFrom('add', FRAMES, 5).jump('segments');
  program.label('udp').set('add', FRAMES, UDP_BYTES);

  // r2 = headers, r3 = segments: payload divided by the payload of one segment, rounded up.
  program.label('segments').setFrom('move', 2, FRAMES).setFrom('move', 3, BYTES).setFrom('subtract', 3, 2);
  program.load('word', 1, FRAME, SKB.gsoSize).setFrom('add', 3, 1).set('subtract', 3, 1).setFrom('divide', 3, 1);
  program.setFrom('move', FRAMES, 3).set('subtract', 3, 1).setFrom('multiply', 3, 2).setFrom('add', BYTES, 3);
  program.jump('tag');
}
