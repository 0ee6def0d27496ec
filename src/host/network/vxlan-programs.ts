// The eBPF programs of links to other hosts. One at the VXLAN interface that all links share accepts only what comes from
// the link's host with the link's number, and answers probes, also while the server is dead. One at each link's interface
// sends its frames there. One sends probes.

import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { BpfAssembler, STACK } from './bpf-assembler.ts';
import { DROP, ETHERNET_BYTES, SKB, VLAN_BYTES } from './bpf-frames.ts';
import { parseAddress } from './ipv4.ts';

/** The other end of a link. */
export interface Remote {
  /** The VXLAN network identifier, of this link only: below {@link PROBE_BIT}. */
  vni: number;
  version: 4 | 6;
  /** As struct bpf_tunnel_key has it: a number, or 16 bytes. */
  address: Buffer;
}

/** Set in the network identifier of a link's probes. */
export const PROBE_BIT = 0x80_0000;

const ADDRESS_BYTES = 16;

/** Undefined if it is no address that packets can be sent to from any interface. */
export function remoteOf(vni: number, host: string): Remote | undefined {
  const address = Buffer.alloc(ADDRESS_BYTES);
  if (isIPv4(host)) {
    address.writeUInt32LE(parseAddress(host)!);
    return { vni, version: 4, address };
  }
  if (!isIPv6(host)) return undefined;
  const parsed = ipaddr.IPv6.parse(host);
  if (parsed.zoneId !== undefined || parsed.isIPv4MappedAddress()) return undefined;
  address.set(parsed.toByteArray());
  return { vni, version: 6, address };
}

/** Maps of all links, whose keys are network identifiers: `tunnels` is read by programs, `notes` is written by them. */
export interface VxlanMaps {
  tunnels: number;
  notes: number;
}

/** An address, the link's interface, and the longest frame that the path takes in one piece. */
export const TUNNEL_BYTES = ADDRESS_BYTES + 8;
const INDEX_AT = ADDRESS_BYTES;
const LONGEST_AT = ADDRESS_BYTES + 4;

export function encodeTunnel({ address }: Remote, index: number, longestWhole: number): Buffer {
  const bytes = Buffer.alloc(TUNNEL_BYTES);
  address.copy(bytes);
  bytes.writeUInt32LE(index, INDEX_AT);
  bytes.writeUInt32LE(longestWhole, LONGEST_AT);
  return bytes;
}

export function decodeTunnel(tunnel: Buffer): { index: number } {
  return { index: tunnel.readUInt32LE(INDEX_AT) };
}

/** The last probe that was answered, and how many longer frames were sent. */
export const NOTE_BYTES = 16;
const UNFIT_AT = 8;

export function decodeNote(note: Buffer): { answered: number; unfit: number } {
  return { answered: note.readUInt32LE(0), unfit: Number(note.readBigUInt64LE(UNFIT_AT)) };
}

/** The most headers of a TCP segment: Ethernet, IPv4 with options, TCP with options. */
const MOST_HEADER_BYTES = 134;
/** The segment size that every TCP accepts (RFC 9293); shorter ones cost more than fragments do. */
const LEAST_SEGMENT_BYTES = 536;
/** Of an EtherType for local experiments (IEEE 802). */
const PROBE_TYPE = 0x88b5;
const KINDS = { request: 1, answer: 2 } as const;
/** Kind, server and number of a probe, behind the Ethernet header; in requests then the key, up to the address, and the IP version. */
const PROBE_BYTES = 12;
const KEY_IN_PROBE = ETHERNET_BYTES + PROBE_BYTES;
const VERSION_IN_PROBE = KEY_IN_PROBE + 4 + ADDRESS_BYTES;

/** A probe, for {@link probeProgram}. @param server a random number of less than 32 bits */
export function encodeProbe({ vni, version, address }: Remote, server: number, sequence: number): Buffer {
  const frame = Buffer.alloc(VERSION_IN_PROBE + 1);
  // Locally administered addresses.
  frame.writeUInt8(2, 0);
  frame.writeUInt8(2, 6);
  frame.writeUInt16BE(PROBE_TYPE, ETHERNET_BYTES - 2);
  for (const [index, word] of [KINDS.request, server, sequence, (vni | PROBE_BIT) >>> 0].entries())
    frame.writeUInt32LE(word, ETHERNET_BYTES + index * 4);
  address.copy(frame, KEY_IN_PROBE + 4);
  frame.writeUInt8(version, VERSION_IN_PROBE);
  return frame;
}

/** struct bpf_tunnel_key on the stack: as far as the IPv4 address, and as far as the label. */
const KEY_BYTES = { 4: 8, 6: 28 } as const;
const KEY_AT = -32;
const ADDRESS_AT = KEY_AT + 4;
const LIMITS_AT = ADDRESS_AT + ADDRESS_BYTES;
const PROBE_AT = -48;
const SERVER_AT = PROBE_AT + 4;
const SEQUENCE_AT = PROBE_AT + 8;

/** With IPv4 packets have no checksum, as usual with VXLAN: those within have their own. */
const BPF_F_ZERO_CSUM_TX = 2;
const BPF_F_TUNINFO_IPV6 = 1;
const SET_FLAGS = { 4: BPF_F_ZERO_CSUM_TX, 6: BPF_F_TUNINFO_IPV6 } as const;
const BPF_F_INGRESS = 1;
/** Of bpf_skb_adjust_room: its mode, its flag, the most bytes of one call, and its answer for all but TCP over IP. */
const BPF_ADJ_ROOM_MAC = 1;
const BPF_F_ADJ_ROOM_FIXED_GSO = 1;
const MOST_ROOM = 0xfff;
const ENOTSUPP = -524;
/** Enough for segments of nodes with an MTU of up to 13,000. */
const MOST_SHORTENINGS = 3;
/** The difference of two lengths is a greater number if it is less than 0. */
const MOST_POSITIVE = 0x7fff_ffff;
const FRAME = 6;
const TUNNEL = 7;
const LENGTH = 7;
const EXCESS = 7;
const FRAMES = 8;
const IS_PROBE = 8;
const VERSION = 9;
const ROOM = 9;

/** For the ingress of the VXLAN interface. @param server of this host: it answers no probe of its own */
export function arrivalProgram({ tunnels, notes }: VxlanMaps, server: number, vxlanIndex: number): Buffer {
  const program = start();
  for (const version of [4, 6] as const) {
    keyArguments(program, version)
      .set('move', 4, version === 6 ? BPF_F_TUNINFO_IPV6 : 0)
      .call('skb_get_tunnel_key');
    program.set('move', VERSION, version).jumpIf('equal', 0, 0, 'known');
  }
  program.jump('drop').label('known').load('word', 1, STACK, KEY_AT).setFrom('move', IS_PROBE, 1);
  program.set('and', IS_PROBE, PROBE_BIT).setFrom('subtract', 1, IS_PROBE).store('word', STACK, KEY_AT, 1);
  program.lookUp(tunnels, KEY_AT).jumpIf('equal', 0, 0, 'drop').setFrom('move', TUNNEL, 0);
  for (let at = 0; at < ADDRESS_BYTES; at += 4) {
    program.load('word', 1, TUNNEL, at).load('word', 2, STACK, ADDRESS_AT + at);
    program.setFrom('subtract', 1, 2).jumpIf('notEqual', 1, 0, 'drop');
  }
  program.jumpIf('notEqual', IS_PROBE, 0, 'probe');
  program.load('word', 1, TUNNEL, INDEX_AT).set('move', 2, BPF_F_INGRESS).call('redirect').exit();

  program.label('probe');
  loadBytes(program, ETHERNET_BYTES, PROBE_AT, PROBE_BYTES).load('word', 1, STACK, PROBE_AT);
  program.load('word', 2, STACK, SERVER_AT).jumpIf('equal', 1, KINDS.answer, 'answer');
  program.jumpIf('notEqual', 1, KINDS.request, 'drop').jumpIf('equal', 2, server, 'drop');
  program.storeNumber('word', STACK, PROBE_AT, KINDS.answer).setFrom('move', 1, FRAME).set('move', 2, ETHERNET_BYTES);
  program.setFrom('move', 3, STACK).set('add', 3, PROBE_AT).set('move', 4, 4).set('move', 5, 0);
  program.call('skb_store_bytes').jumpIf('notEqual', 0, 0, 'drop');
  program.load('word', 1, STACK, KEY_AT).set('add', 1, PROBE_BIT).store('word', STACK, KEY_AT, 1);
  // The answer may pass as many routers as any packet.
  program.storeNumber('word', STACK, LIMITS_AT, 0).storeNumber('word', STACK, LIMITS_AT + 4, 0);
  setKey(program);
  program.set('move', 1, vxlanIndex).set('move', 2, 0).call('redirect').exit();

  program.label('answer').jumpIf('notEqual', 2, server, 'drop');
  program
    .lookUp(notes, KEY_AT)
    .jumpIf('equal', 0, 0, 'drop')
    .load('word', 1, STACK, SEQUENCE_AT)
    .store('word', 0, 0, 1);
  return program.label('drop').set('move', 0, DROP).exit().assemble();
}

/** For the egress of a link's interface. Counts frames that the path does not carry in one piece. */
export function departureProgram({ vni, version, address }: Remote, maps: VxlanMaps, vxlanIndex: number): Buffer {
  const program = start().storeNumber('word', STACK, KEY_AT, vni);
  for (let at = 0; at < ADDRESS_BYTES; at += 4)
    program.storeNumber('word', STACK, ADDRESS_AT + at, address.readUInt32LE(at));
  measureFrame(program);
  program.lookUp(maps.tunnels, KEY_AT).jumpIf('equal', 0, 0, 'send').load('word', 1, 0, LONGEST_AT);
  program.setFrom('subtract', EXCESS, 1).jumpIf('equal', EXCESS, 0, 'send');
  // The others are less than 0.
  program.jumpIf('greater', EXCESS, MOST_POSITIVE, 'send');
  shortenSegments(program);
  program.label('unfit');
  program.lookUp(maps.notes, KEY_AT).jumpIf('equal', 0, 0, 'send').atomicAdd(0, UNFIT_AT, FRAMES);
  program.label('send').set('move', VERSION, version);
  setKey(program);
  program.set('move', 1, vxlanIndex).set('move', 2, 0).call('redirect').exit();
  return program.label('drop').set('move', 0, DROP).exit().assemble();
}

/** LENGTH = the length of the frame, or of the first segment of a super-frame; FRAMES = how many frames it becomes. */
function measureFrame(program: BpfAssembler): void {
  program.load('word', LENGTH, FRAME, SKB.length).set('move', FRAMES, 1);
  program.load('word', 1, FRAME, SKB.gsoSize).jumpIf('equal', 1, 0, 'tag');
  program.load('word', 3, FRAME, SKB.segments).jumpIf('notEqual', 3, 0, 'segments');
  // The kernel has not counted the segments of a super-frame from a virtual machine or from the fabric.
  program.jumpIf('greater', LENGTH, MOST_HEADER_BYTES, 'count').jump('tag').label('count');
  program
    .setFrom('move', 3, LENGTH)
    .set('subtract', 3, MOST_HEADER_BYTES + 1)
    .setFrom('divide', 3, 1)
    .set('add', 3, 1);
  program.label('segments').setFrom('move', FRAMES, 3).jumpIf('equal', 3, 1, 'tag');
  // The length on the wire has the headers of all segments but one more than the super-frame.
  program.set('subtract', 3, 1).load('word', 2, FRAME, SKB.wireLength).setFrom('subtract', 2, LENGTH);
  program.setFrom('divide', 2, 3).setFrom('move', LENGTH, 1).setFrom('add', LENGTH, 2);
  program.label('tag').load('word', 1, FRAME, SKB.vlanPresent).jumpIf('equal', 1, 0, 'measured');
  program.set('add', LENGTH, VLAN_BYTES).label('measured');
}

/**
 * Makes the segments of a TCP super-frame shorter by EXCESS, so that no packet needs fragments, and jumps to `send`.
 * Jumps to `unfit` with other frames, and with those whose segments would be too short.
 */
function shortenSegments(program: BpfAssembler): void {
  program.load('word', 1, FRAME, SKB.gsoSize).set('subtract', 1, LEAST_SEGMENT_BYTES).setFrom('subtract', 1, EXCESS);
  program.jumpIf('greater', 1, MOST_POSITIVE, 'unfit');
  program.jumpIf('greater', EXCESS, MOST_ROOM * MOST_SHORTENINGS, 'unfit');
  for (let count = 1; count <= MOST_SHORTENINGS; count++) {
    program.setFrom('move', ROOM, EXCESS).jumpIf('greater', ROOM, MOST_ROOM, `most${count}`).jump(`room${count}`);
    program.label(`most${count}`).set('move', ROOM, MOST_ROOM).label(`room${count}`);
    // Room for headers shortens the segments; removed with this flag, it leaves them short.
    program.setFrom('move', 1, FRAME).setFrom('move', 2, ROOM).set('move', 3, BPF_ADJ_ROOM_MAC).set('move', 4, 0);
    program.call('skb_adjust_room').jumpIf('equal', 0, ENOTSUPP, 'unfit').jumpIf('notEqual', 0, 0, 'drop');
    program.setFrom('move', 1, FRAME).set('move', 2, 0).setFrom('subtract', 2, ROOM).set('move', 3, BPF_ADJ_ROOM_MAC);
    program.set('move', 4, BPF_F_ADJ_ROOM_FIXED_GSO).call('skb_adjust_room').jumpIf('notEqual', 0, 0, 'drop');
    program.setFrom('subtract', EXCESS, ROOM).jumpIf('equal', EXCESS, 0, 'send');
  }
}

/** Sends the probe on which it is run (`runTrafficProgram`) in the network namespace of the VXLAN interface. */
export function probeProgram(vxlanIndex: number): Buffer {
  const program = start();
  loadBytes(program, VERSION_IN_PROBE, PROBE_AT, 1).load('byte', VERSION, STACK, PROBE_AT);
  loadBytes(program, KEY_IN_PROBE, KEY_AT, 4 + ADDRESS_BYTES);
  setKey(program);
  program.setFrom('move', 1, FRAME).set('move', 2, vxlanIndex).set('move', 3, 0).call('clone_redirect');
  return program.label('drop').set('move', 0, DROP).exit().assemble();
}

/** An empty key is on the stack. */
function start(): BpfAssembler {
  const program = new BpfAssembler().setFrom('move', FRAME, 1);
  for (let at = KEY_AT; at < 0; at += 8) program.storeNumber('double', STACK, at, 0);
  return program;
}

function keyArguments(program: BpfAssembler, version: 4 | 6): BpfAssembler {
  program.setFrom('move', 1, FRAME).setFrom('move', 2, STACK).set('add', 2, KEY_AT);
  return program.set('move', 3, KEY_BYTES[version]);
}

/** Gives the frame the key on the stack, of the IP version in {@link VERSION}. */
function setKey(program: BpfAssembler): void {
  program.jumpIf('equal', VERSION, 6, 'key6');
  keyArguments(program, 4).set('move', 4, SET_FLAGS[4]).call('skb_set_tunnel_key').jump('keySet');
  program.label('key6');
  keyArguments(program, 6).set('move', 4, SET_FLAGS[6]).call('skb_set_tunnel_key');
  program.label('keySet').jumpIf('notEqual', 0, 0, 'drop');
}

/** Copies bytes of the frame to the stack; drops it if it is too short. */
function loadBytes(program: BpfAssembler, offset: number, at: number, length: number): BpfAssembler {
  return program.set('move', 2, offset).loadBytes(FRAME, at, length).jumpIf('notEqual', 0, 0, 'drop');
}
