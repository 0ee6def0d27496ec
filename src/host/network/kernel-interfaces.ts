// Network interfaces of this host ("links" in the kernel), and changes to them: up and down, MTU, bridges, addresses.

import { randomInt } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { conflict, invalid } from '../../failures.ts';
import { NETLINK_HEADER_BYTES, netlinkRequestsElsewhere, SystemError } from '../system-calls.ts';
import {
  attribute,
  attributesOf,
  change,
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  number,
  request,
  requestMessage,
  stringOf,
  text,
} from './rtnetlink.ts';

export interface Link {
  index: number;
  name: string;
  /** The type: `bridge`, `tun` (TAPs too), `veth`, `vlan`, `dummy` ...; undefined for hardware. */
  kind: string | undefined;
  /** Whether it carries Ethernet frames and is not the loopback interface. */
  ethernet: boolean;
  /** Whether it was brought up. */
  up: boolean;
  /** Whether it is up and has a carrier: a cable, or a program at the other end. */
  running: boolean;
  mtu: number;
  macAddress: string;
  /** Index of its bridge. */
  bridge: number | undefined;
  /** Of one of a pair: the index of the other end, in whichever network namespace that is. */
  peer: number | undefined;
  /** Whether that is another one. */
  leadsElsewhere: boolean;
  /** What the one who made it noted; "" for nothing. */
  alias: string;
}

/** Changes of a link; missing members stay as they are. */
export interface LinkChange {
  up?: boolean;
  mtu?: number;
  /** Frames that wait for a TAP's reader; further ones are dropped. */
  queueFrames?: number;
  /** `02:00:5e:00:53:01`. */
  macAddress?: string;
  /** Name of the bridge to add it to; null removes it from its bridge. */
  bridge?: string | null;
  /** A note, of at most 255 bytes. */
  alias?: string;
}

/** The most that the kernel takes for a TAP. Interfaces beside those of nodes have it, so that nodes may use any MTU. */
export const MOST_MTU_BYTES = 65_521;

// linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h
const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
const RTM_NEWADDR = 20;
const IFLA_ADDRESS = 1;
const IFLA_IFNAME = 3;
const IFLA_MTU = 4;
const IFLA_LINK = 5;
const IFLA_MASTER = 10;
const IFLA_TXQLEN = 13;
const IFLA_LINKINFO = 18;
const IFLA_IFALIAS = 20;
const IFLA_STATS64 = 23;
const IFLA_GROUP = 27;
/** Behind packets, bytes and errors of both directions, and what was not received. */
const STATS64_TX_DROPPED = 56;
const IFLA_INFO_KIND = 1;
const IFLA_INFO_DATA = 2;
const VETH_INFO_PEER = 1;
const IFLA_BR_MCAST_SNOOPING = 23;
const IFLA_VXLAN_LEARNING = 7;
const IFLA_VXLAN_PORT = 15;
const IFLA_VXLAN_COLLECT_METADATA = 25;
const IFLA_NET_NS_PID = 19;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_BROADCAST = 4;
const IFLA_AF_SPEC = 26;
const IFLA_LINK_NETNSID = 37;
const IFLA_INET6_ADDR_GEN_MODE = 8;
const IN6_ADDR_GEN_MODE_NONE = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const ARPHRD_ETHER = 1;
const IFF_UP = 0x1;
const IFF_RUNNING = 0x40;

const IFINFOMSG_BYTES = 16;

function addressBytes(macAddress: string): Buffer {
  return Buffer.from(macAddress.replaceAll(':', ''), 'hex');
}

function linkMessage(index: number, flags = 0, change = 0): Buffer {
  const message = Buffer.alloc(IFINFOMSG_BYTES);
  message.writeInt32LE(index, 4);
  message.writeUInt32LE(flags, 8);
  message.writeUInt32LE(change, 12);
  return message;
}

function linkOf(message: Buffer): Link {
  const attributes = attributesOf(message, NETLINK_HEADER_BYTES + IFINFOMSG_BYTES);
  const flags = message.readUInt32LE(NETLINK_HEADER_BYTES + 8);
  const information = attributes.get(IFLA_LINKINFO);
  const kind = information === undefined ? '' : stringOf(attributesOf(information, 0).get(IFLA_INFO_KIND));
  return {
    index: message.readInt32LE(NETLINK_HEADER_BYTES + 4),
    name: stringOf(attributes.get(IFLA_IFNAME)),
    kind: kind === '' ? undefined : kind,
    ethernet: message.readUInt16LE(NETLINK_HEADER_BYTES + 2) === ARPHRD_ETHER,
    up: (flags & IFF_UP) !== 0,
    running: (flags & IFF_RUNNING) !== 0,
    mtu: attributes.get(IFLA_MTU)?.readUInt32LE() ?? 0,
    macAddress: attributes.get(IFLA_ADDRESS)?.toString('hex').match(/../g)?.join(':') ?? '',
    bridge: attributes.get(IFLA_MASTER)?.readUInt32LE(),
    peer: kind === 'veth' ? attributes.get(IFLA_LINK)?.readUInt32LE() : undefined,
    leadsElsewhere: kind === 'veth' && attributes.has(IFLA_LINK_NETNSID),
    alias: stringOf(attributes.get(IFLA_IFALIAS)),
  };
}

/** All interfaces of this process's network namespace, in the order of their indexes. */
export function links(): Link[] {
  return request('RTM_GETLINK', RTM_GETLINK, NLM_F_DUMP, linkMessage(0)).map(linkOf);
}

/** The interface of that name, if it exists. */
export function findLink(name: string): Link | undefined {
  try {
    return request('RTM_GETLINK', RTM_GETLINK, NLM_F_ACK, linkMessage(0), attribute(IFLA_IFNAME, text(name))).map(
      linkOf,
    )[0];
  } catch (error) {
    // No interface can have a name that is too long.
    if (error instanceof SystemError && ['ENODEV', 'ERANGE', 'EINVAL'].includes(error.code)) return undefined;
    throw error;
  }
}

/** Frames that the interface of this index could not send since it exists; 0 if it is gone. */
export function droppedBy(index: number): number {
  try {
    const [message] = request('RTM_GETLINK', RTM_GETLINK, NLM_F_ACK, linkMessage(index));
    const statistics = message && attributesOf(message, NETLINK_HEADER_BYTES + IFINFOMSG_BYTES).get(IFLA_STATS64);
    return Number(statistics?.readBigUInt64LE(STATS64_TX_DROPPED) ?? 0);
  } catch (error) {
    if (error instanceof SystemError && error.code === 'ENODEV') return 0;
    throw error;
  }
}

/** @throws Failure `conflict` if the interface does not exist */
export function getLink(name: string): Link {
  const link = findLink(name);
  if (link === undefined) throw conflict(`There is no interface ${name} on this host; "ip link" lists them`);
  return link;
}

/**
 * Changes an interface, either completely or not at all.
 * @throws Failure `conflict` if the interface or bridge is missing, or when the kernel refuses; `forbidden` without
 * CAP_NET_ADMIN
 */
export function changeLink(name: string, { up, mtu, queueFrames, macAddress, bridge, alias }: LinkChange): void {
  const { index } = getLink(name);
  const attributes: Buffer[] = [];
  if (mtu !== undefined) attributes.push(attribute(IFLA_MTU, number(mtu)));
  if (queueFrames !== undefined) attributes.push(attribute(IFLA_TXQLEN, number(queueFrames)));
  if (macAddress !== undefined) attributes.push(attribute(IFLA_ADDRESS, addressBytes(macAddress)));
  if (bridge !== undefined) attributes.push(attribute(IFLA_MASTER, number(bridge === null ? 0 : bridgeIndex(bridge))));
  if (alias !== undefined) attributes.push(attribute(IFLA_IFALIAS, text(alias)));
  const message = linkMessage(index, up === true ? IFF_UP : 0, up === undefined ? 0 : IFF_UP);
  change(`change interface ${name}`, () => request('RTM_NEWLINK', RTM_NEWLINK, NLM_F_ACK, message, ...attributes));
}

/**
 * Removes an interface, and the other end if it is one of a pair. A missing one is ignored.
 * @throws Failure `conflict` for hardware, `forbidden` without CAP_NET_ADMIN
 */
export function removeLink(name: string): void {
  const link = findLink(name);
  if (link === undefined) return;
  change(`remove interface ${name}`, () => request('RTM_DELLINK', RTM_DELLINK, NLM_F_ACK, linkMessage(link.index)));
}

/**
 * Removes interfaces of the network namespace in which this is called, without making this thread wait. They are removed
 * as one group, because the kernel waits some 10 ms for its own readers each time. Missing ones are ignored.
 * @param indexes at most 4096, as the kernel takes some 200 KB at once
 * @throws when nothing could be sent
 */
export async function removeLinks(indexes: readonly number[]): Promise<void> {
  // Others use small numbers, if any.
  const group = attribute(IFLA_GROUP, number(randomInt(2 ** 24, 2 ** 31)));
  await netlinkRequestsElsewhere([
    ...indexes.map((index) => requestMessage(RTM_NEWLINK, 0, linkMessage(index), group)),
    requestMessage(RTM_DELLINK, 0, linkMessage(0), group),
  ]);
}

function bridgeIndex(name: string): number {
  const { index, kind } = getLink(name);
  if (kind === 'bridge') return index;
  throw conflict(`${name} is no bridge; "ip link show type bridge" lists them`);
}

/**
 * Creates a pair of interfaces that are down: what is sent into one comes out of the other.
 * @param peer the other end, in the network namespace of a process
 * @throws Failure `conflict` if a name is in use or the process is gone, `forbidden` without CAP_NET_ADMIN
 */
export function makePair(name: string, peer: { name: string; macAddress?: string; process: number }): void {
  const other = [linkMessage(0), attribute(IFLA_IFNAME, text(peer.name))];
  if (peer.macAddress !== undefined) other.push(attribute(IFLA_ADDRESS, addressBytes(peer.macAddress)));
  other.push(inNetworkOfProcess(peer.process));
  makeLink(name, 'veth', attribute(VETH_INFO_PEER, Buffer.concat(other)));
}

/**
 * Creates a bridge that is down in the network namespace of a process. Without ports it serves programs as an interface of
 * its own; not every kernel has dummy interfaces. It does not join groups of multicast, which it would report.
 * @throws Failure `conflict` if the name is in use or the process is gone, `forbidden` without CAP_NET_ADMIN
 */
export function makeBridge(name: string, process: number): void {
  makeLink(name, 'bridge', attribute(IFLA_BR_MCAST_SNOOPING, Buffer.from([0])), inNetworkOfProcess(process));
}

/**
 * Creates a VXLAN interface that is down in the network namespace of a process. Its UDP port is in this process's. Programs
 * name the network and the remote address of each frame.
 * @throws Failure `conflict` if the name is in use, the process is gone or the kernel has no VXLAN, `forbidden` without
 * CAP_NET_ADMIN
 */
export function makeVxlan(name: string, port: number, process: number): void {
  const udp = Buffer.alloc(2);
  udp.writeUInt16BE(port);
  const data = [
    attribute(IFLA_VXLAN_PORT, udp),
    attribute(IFLA_VXLAN_LEARNING, Buffer.from([0])),
    attribute(IFLA_VXLAN_COLLECT_METADATA, Buffer.from([1])),
  ];
  makeLink(name, 'vxlan', Buffer.concat(data), inNetworkOfProcess(process));
}

function inNetworkOfProcess(process: number): Buffer {
  return attribute(IFLA_NET_NS_PID, number(process));
}

/** @param data of this kind */
function makeLink(name: string, kind: string, data: Buffer, ...more: Buffer[]): void {
  const information = [attribute(IFLA_INFO_KIND, text(kind)), attribute(IFLA_INFO_DATA, data)];
  const parts = [linkMessage(0), attribute(IFLA_IFNAME, text(name)), ...more];
  parts.push(attribute(IFLA_LINKINFO, Buffer.concat(information)));
  const flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  change(`create interface ${name}`, () => request('RTM_NEWLINK', RTM_NEWLINK, flags, ...parts));
}

/**
 * Stops the interface from getting IPv6 addresses and reporting groups. Under systemd, where the settings are
 * read-only, only the addresses are prevented. Call this before the interface is up.
 * @throws Failure `conflict` if the interface does not exist, `forbidden` without CAP_NET_ADMIN
 */
export function disableIpv6(name: string): void {
  const { index } = getLink(name);
  const settings = `/proc/sys/net/ipv6/conf/${name}`;
  if (!existsSync(settings)) return;
  try {
    writeFileSync(`${settings}/disable_ipv6`, '1');
  } catch {
    const mode = attribute(IFLA_INET6_ADDR_GEN_MODE, Buffer.from([IN6_ADDR_GEN_MODE_NONE]));
    const families = attribute(IFLA_AF_SPEC, attribute(AF_INET6, mode));
    const message = linkMessage(index);
    change(`change interface ${name}`, () => request('RTM_NEWLINK', RTM_NEWLINK, NLM_F_ACK, message, families));
  }
}

/**
 * Gives the interface an IPv4 address, such as `192.168.122.1/24`.
 * @throws Failure `invalid` for an invalid address, `conflict` if it has the address already, `forbidden` without
 * CAP_NET_ADMIN
 */
export function addAddress(name: string, address: string): void {
  const message = addressMessage(name, address);
  const flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  change(`give ${name} the address ${address}`, () => request('RTM_NEWADDR', RTM_NEWADDR, flags, message));
}

function addressMessage(name: string, address: string): Buffer {
  const [host = '', length = ''] = address.split('/');
  const prefix = Number(length);
  if (!isIPv4(host) || !/^\d+$/.test(length) || prefix > 32)
    throw invalid(`${JSON.stringify(address)} is no IPv4 address with its prefix; use such as 192.168.122.1/24`);
  const bytes = Buffer.from(host.split('.').map(Number));
  const broadcast = Buffer.alloc(4);
  broadcast.writeUInt32BE((bytes.readUInt32BE() | (prefix === 32 ? 0 : 0xffffffff >>> prefix)) >>> 0);
  const header = Buffer.alloc(8);
  header[0] = AF_INET;
  header[1] = prefix;
  header.writeUInt32LE(getLink(name).index, 4);
  const parts = [header, attribute(IFA_LOCAL, bytes), attribute(IFA_ADDRESS, bytes)];
  if (prefix < 31) parts.push(attribute(IFA_BROADCAST, broadcast));
  return Buffer.concat(parts);
}
