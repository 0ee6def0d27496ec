// The eBPF programs of kernel links. Each node's interface has `nodeProgram` at its ingress: one look into a map decides
// where a frame goes, to the other node, to the fabric, or by the addresses that the fabric's switch has learned, so that
// no change of the map can lose or double a frame. A frame whose target is not an interface of the same lab goes to the
// fabric, whatever the map says.

import { BpfAssembler, type Register, STACK } from './bpf-assembler.ts';
import { DROP, ETHERNET_BYTES, SKB, VLAN_BYTES } from './bpf-frames.ts';
import { type MapDescriptors, STATION_BYTES, STATION_KEY_BYTES, WAY_BYTES } from './kernel-maps.ts';

const HEARD_AT = 16;

const ADDRESS_BYTES = 6;
const RECEIVER_BYTE = 0;
const SENDER_BYTE = 6;
const IP6_BYTES = 40;
const UDP_BYTES = 8;
const PROTOCOL_TCP = 6;
const PROTOCOL_UDP = 17;
/** EtherTypes as the kernel has them in memory. */
const IP4 = 0x0008;
const IP6 = 0xdd86;
const CUSTOMER_TAG = 0x0081;
/** Tags that a switch may read: frames that still have one go to the fabric. */
const TAGS = [CUSTOMER_TAG, 0xa888, 0x0091, 0x0092];

const FRAME = 6;
const WAY = 7;
const BYTES = 8;
const FRAMES = 9;
const KEY_AT = -4;
const BYTE_AT = -8;
/** The interface that the frame goes to, and the number of its port. */
const TARGET_AT = -16;
const PEER_AT = -12;
const STATION_AT = -28;
const NOW_AT = -40;
/** Not 0: the frame goes to the other end of the target's pair. */
const PAIR_AT = -44;
const TAGGED = 9;
const DOMAIN = 8;
/** Bits of a station. */
const STATION_TAGGED = 1;
const STATION_PAIR = 2;

/**
 * The kinds of ways, in the lower bits of a way's upper half. Further bits of a switch: trunk, VLAN (12), switch (16); of
 * a cable: the number of the port that the frame goes to.
 */
const KINDS = { nowhere: 0, fabric: 1, cable: 2, peer: 3, switch: 4 } as const;
const KIND_MASK = 7;
const TRUNK = 8;
const VLAN_SHIFT = 4;
const PORT_SHIFT = 4;
const SWITCH_SHIFT = 16;
/** The most switches that one map can tell apart. */
export const MOST_SWITCHES = 1 << 16;

/** A port of a switch, as programs know it. */
export interface SwitchSeat {
  /** The switch, below {@link MOST_SWITCHES}. */
  switch: number;
  /** The VLAN of frames without a tag. */
  vlan: number;
  /** Whether frames may have tags. */
  isTrunk: boolean;
}

/** Where frames leave the kernel's way. */
export interface FrameTarget {
  /** The node's interface, and the number of its port. */
  index: number;
  port: number;
  /**
   * Whether the interface is an end of a pair whose other end the frames come out of at once, in another network
   * namespace.
   */
  isPair: boolean;
}

/** Encodes a way. `nowhere`: frames are dropped. */
export function encodeWay(to: 'nowhere' | 'fabric' | FrameTarget | SwitchSeat): Buffer {
  const bytes = Buffer.alloc(WAY_BYTES);
  if (typeof to === 'string') {
    bytes.writeUInt32LE(KINDS[to], 4);
  } else if ('switch' in to) {
    bytes.writeUInt32LE((domainOf(to.switch, to.vlan) | (to.isTrunk ? TRUNK : 0) | KINDS.switch) >>> 0, 4);
  } else {
    bytes.writeUInt32LE(to.index, 0);
    bytes.writeUInt32LE(((to.port << PORT_SHIFT) | (to.isPair ? KINDS.peer : KINDS.cable)) >>> 0, 4);
  }
  return bytes;
}

function domainOf(number: number, vlan: number): number {
  return ((number << SWITCH_SHIFT) | (vlan << VLAN_SHIFT)) >>> 0;
}

/** The key of an address, given as its upper 16 and lower 32 bits, in a VLAN of a switch. */
export function encodeStationKey(number: number, vlan: number, high: number, low: number): Buffer {
  const key = Buffer.alloc(STATION_KEY_BYTES);
  key.writeUInt32LE(domainOf(number, vlan), 0);
  key.writeUInt16BE(high, 4);
  key.writeUInt32BE(low, 6);
  return key;
}

/** Where the address of a key is. */
export interface Station extends FrameTarget {
  /** Whether frames go there with a tag. */
  isTagged: boolean;
  /** When it last sent a frame, in nanoseconds of the monotonic clock. */
  heard: bigint;
}

export function encodeStation(key: Buffer, { index, port, isPair, isTagged, heard }: Station): Buffer {
  const value = Buffer.alloc(STATION_BYTES);
  value.writeUInt32LE(index, 0);
  value.writeUInt32LE(port, 4);
  // Elements of a map are reused at once: the program checks that it has read the one it looked up.
  key.copy(value, 8, 0, 4);
  value.writeUInt32LE((isTagged ? STATION_TAGGED : 0) | (isPair ? STATION_PAIR : 0), 12);
  value.writeBigUInt64LE(heard, HEARD_AT);
  return value;
}

/** When the address last sent a frame, in nanoseconds of the monotonic clock. */
export function heardOf(station: Buffer): bigint {
  return station.readBigUInt64LE(HEARD_AT);
}

/** For the ingress of the fabric's own interface of a port: frames go out by the node's interface. */
export function relayProgram(nodeIndex: number): Buffer {
  return new BpfAssembler().set('move', 1, nodeIndex).set('move', 2, 0).call('redirect').exit().assemble();
}

/** What never changes at a port. */
export interface PortFacts {
  number: number;
  /** The fabric's own interface beside the node's. */
  relayIndex: number;
  /** The number of its lab, from 1. */
  lab: number;
}

/**
 * For the ingress of a node's interface: looks the way of its port up and redirects the frame there. Frames to another
 * node are counted as they would be on a cable: a super-frame as all the frames it is cut into.
 */
export function nodeProgram({ number, relayIndex, lab }: PortFacts, maps: MapDescriptors): Buffer {
  const program = new BpfAssembler().setFrom('move', FRAME, 1).storeNumber('word', STACK, KEY_AT, number);
  // A program keeps the maps that it mentions: the next server finds the bases by it.
  program.loadMap(1, maps.bases);
  program.lookUp(maps.ways, KEY_AT).jumpIf('equal', 0, 0, 'drop').load('double', WAY, 0, 0);
  kindOfWay(program).jumpIf('equal', 1, KINDS.nowhere, 'drop').jumpIf('equal', 1, KINDS.fabric, 'fabric');
  program.jumpIf('notEqual', 1, KINDS.switch, 'cable');
  findStation(program, number, maps.stations);
  program.jump('owner').label('cable').store('word', STACK, TARGET_AT, WAY);
  program
    .setFrom('move', 1, WAY)
    .set('shiftRight', 1, 32 + PORT_SHIFT)
    .store('word', STACK, PEER_AT, 1);
  kindOfWay(program).set('subtract', 1, KINDS.cable).store('word', STACK, PAIR_AT, 1);

  program.label('owner');
  program.lookUp(maps.owners, PEER_AT).jumpIf('equal', 0, 0, 'fabric').load('double', 2, 0, 0);
  program.set('move', 1, lab).set('shiftLeft', 1, 32).load('word', 3, STACK, TARGET_AT).setFrom('add', 1, 3);
  program.setFrom('subtract', 1, 2).jumpIf('notEqual', 1, 0, 'fabric');

  program.load('word', BYTES, FRAME, SKB.length).set('move', FRAMES, 1);
  program.load('word', 1, FRAME, SKB.gsoSize).jumpIf('notEqual', 1, 0, 'superFrame');
  program.label('tag').load('word', 1, FRAME, SKB.vlanPresent).jumpIf('equal', 1, 0, 'count');
  program.setFrom('move', 1, FRAMES).set('multiply', 1, VLAN_BYTES).setFrom('add', BYTES, 1);
  program.label('count');
  program.lookUp(maps.counters, KEY_AT).jumpIf('equal', 0, 0, 'drop').atomicAdd(0, 0, FRAMES).atomicAdd(0, 8, BYTES);
  kindOfWay(program).jumpIf('notEqual', 1, KINDS.switch, 'redirect');
  program.lookUp(maps.counters, PEER_AT).jumpIf('equal', 0, 0, 'drop');
  program.atomicAdd(0, 16, FRAMES).atomicAdd(0, 24, BYTES);

  program.label('redirect').load('word', 1, STACK, PAIR_AT).jumpIf('notEqual', 1, 0, 'peer');
  program.load('word', 1, STACK, TARGET_AT).set('move', 2, 0).call('redirect').exit();
  program.label('peer').load('word', 1, STACK, TARGET_AT).set('move', 2, 0).call('redirect_peer').exit();
  program.label('fabric').set('move', 1, relayIndex).set('move', 2, 0).call('redirect').exit();
  program.label('drop').set('move', 0, DROP).exit();
  countSegments(program);
  return program.assemble();
}

/** r1 = the kind of the way. */
function kindOfWay(program: BpfAssembler): BpfAssembler {
  return program.setFrom('move', 1, WAY).set('shiftRight', 1, 32).set('and', 1, KIND_MASK);
}

/**
 * Sets target and peer to the station that the frame is for. Frames that the switch must see (a sender or receiver
 * whom the kernel does not know, or a tag that changes) are redirected to the fabric.
 */
function findStation(program: BpfAssembler, number: number, stations: number): void {
  program.setFrom('move', DOMAIN, WAY).set('shiftRight', DOMAIN, 32);
  program.load('word', 1, FRAME, SKB.vlanPresent).jumpIf('notEqual', 1, 0, 'tagged');
  program.load('word', 1, FRAME, SKB.protocol);
  for (const tag of TAGS) program.jumpIf('equal', 1, tag, 'fabric');
  program.set('shiftRight', DOMAIN, VLAN_SHIFT).set('shiftLeft', DOMAIN, VLAN_SHIFT);
  program.set('move', TAGGED, 0).jump('station');

  program.label('tagged').setFrom('move', 1, DOMAIN).set('and', 1, TRUNK).jumpIf('equal', 1, 0, 'fabric');
  program.load('word', 1, FRAME, SKB.vlanProtocol).jumpIf('notEqual', 1, CUSTOMER_TAG, 'fabric');
  program.load('word', 1, FRAME, SKB.vlanControl).set('and', 1, 0xfff).jumpIf('equal', 1, 0, 'fabric');
  program.set('shiftLeft', 1, VLAN_SHIFT);
  program.set('shiftRight', DOMAIN, SWITCH_SHIFT).set('shiftLeft', DOMAIN, SWITCH_SHIFT).setFrom('add', DOMAIN, 1);
  program.set('move', TAGGED, 1);

  program.label('station').call('ktime_get_ns').store('double', STACK, NOW_AT, 0);
  program.store('word', STACK, STATION_AT, DOMAIN).storeNumber('half', STACK, STATION_AT + 10, 0);
  findAddress(program, stations, SENDER_BYTE).load('word', 1, 0, 4).jumpIf('notEqual', 1, number, 'fabric');
  program.load('double', 1, STACK, NOW_AT).store('double', 0, HEARD_AT, 1);

  findAddress(program, stations, RECEIVER_BYTE).load('double', 2, 0, 0);
  program.load('word', 1, 0, 8).setFrom('subtract', 1, DOMAIN).jumpIf('notEqual', 1, 0, 'fabric');
  program.load('word', 1, 0, 12).setFrom('move', 3, 1).set('and', 3, STATION_PAIR).store('word', STACK, PAIR_AT, 3);
  program.set('and', 1, STATION_TAGGED).setFrom('subtract', 1, TAGGED).jumpIf('notEqual', 1, 0, 'fabric');
  program.setFrom('move', 1, 2).set('shiftRight', 1, 32).jumpIf('equal', 1, number, 'fabric');
  program.store('double', STACK, TARGET_AT, 2);
}

/** r0 = the station of the frame's address at this offset; a frame to or from an unknown one goes to the fabric. */
function findAddress(program: BpfAssembler, stations: number, offset: number): BpfAssembler {
  program
    .set('move', 2, offset)
    .loadBytes(FRAME, STATION_AT + 4, ADDRESS_BYTES)
    .jumpIf('notEqual', 0, 0, 'fabric');
  return program.lookUp(stations, STATION_AT).jumpIf('equal', 0, 0, 'fabric');
}

/** target = the frame's byte at the offset in r2; a frame that is too short is counted as one. Changes r0 to r5. */
function readByte(program: BpfAssembler, target: Register): BpfAssembler {
  program.loadBytes(FRAME, BYTE_AT, 1).jumpIf('notEqual', 0, 0, 'one');
  return program.load('byte', target, STACK, BYTE_AT);
}

/** FRAMES = segments of the super-frame, BYTES = their length with a copy of the headers in each. */
function countSegments(program: BpfAssembler): void {
  program.label('superFrame').load('word', 1, FRAME, SKB.protocol);
  program.jumpIf('equal', 1, IP4, 'ip4').jumpIf('equal', 1, IP6, 'ip6').jump('tag');

  program.label('ip4').set('move', 2, ETHERNET_BYTES);
  readByte(program, FRAMES).set('and', FRAMES, 0x0f).set('shiftLeft', FRAMES, 2).set('add', FRAMES, ETHERNET_BYTES);
  program.set('move', 2, ETHERNET_BYTES + 9);
  readByte(program, 5).jump('transport');

  program
    .label('ip6')
    .set('move', FRAMES, ETHERNET_BYTES + IP6_BYTES)
    .set('move', 2, ETHERNET_BYTES + 6);
  readByte(program, 5);

  // FRAMES is the offset of the transport header here, and afterwards the length of all headers.
  program.label('transport').jumpIf('equal', 5, PROTOCOL_TCP, 'tcp').jumpIf('equal', 5, PROTOCOL_UDP, 'udp');
  program.label('one').set('move', FRAMES, 1).jump('tag');
  program.label('tcp').setFrom('move', 2, FRAMES).set('add', 2, 12);
  readByte(program, 5).set('shiftRight', 5, 4).set('shiftLeft', 5, 2).setFrom('add', FRAMES, 5).jump('segments');
  program.label('udp').set('add', FRAMES, UDP_BYTES);

  // r2 = headers, r3 = segments: payload divided by the payload of one segment, rounded up.
  program.label('segments').setFrom('move', 2, FRAMES).setFrom('move', 3, BYTES).setFrom('subtract', 3, 2);
  // A sender can claim more headers than there are bytes.
  program.setFrom('move', 1, 3).set('shiftRight', 1, 63).jumpIf('notEqual', 1, 0, 'one').jumpIf('equal', 3, 0, 'one');
  program.load('word', 1, FRAME, SKB.gsoSize).setFrom('add', 3, 1).set('subtract', 3, 1).setFrom('divide', 3, 1);
  program.setFrom('move', FRAMES, 3).set('subtract', 3, 1).setFrom('multiply', 3, 2).setFrom('add', BYTES, 3);
  program.jump('tag');
}
