// Interfaces of links to other hosts, in the network namespace of nodes' interfaces: to the rest of the server each is as
// a node's interface. Frames go by one VXLAN interface, whose UDP port is in the host's network. All of it outlives the
// server, and plain links with it. Probes show which links work; the others use UDP.

import { randomInt } from 'node:crypto';
import { closeSync } from 'node:fs';
import { conflict, Failure, messageOf } from '../../failures.ts';
import { log } from '../log.ts';
import {
  BpfMap,
  inNetworkOf,
  loadTrafficProgram,
  networkNamespace,
  openMapsOf,
  pathMtu,
  runTrafficProgram,
  SystemError,
} from '../system-calls.ts';
import { KeyedLock } from '../values/keyed-lock.ts';
import { attachProgram, keepFromHost, programAt } from './interface-programs.ts';
import { removeElsewhere } from './interface-removals.ts';
import { VXLAN_NAME } from './interfaces.ts';
import {
  changeLink,
  disableIpv6,
  findLink,
  getLink,
  MOST_MTU_BYTES,
  makeBridge,
  makeVxlan,
  removeLink,
} from './kernel-interfaces.ts';
import type { NodeNetwork } from './node-network.ts';
import { VxlanPath } from './vxlan-path.ts';
import {
  arrivalProgram,
  decodeNote,
  decodeTunnel,
  departureProgram,
  encodeProbe,
  encodeTunnel,
  NOTE_BYTES,
  probeProgram,
  type Remote,
  remoteOf,
  TUNNEL_BYTES,
} from './vxlan-programs.ts';

const MOST_TUNNELS = 1 << 14;
/** Names of the maps, by which the next server finds them. */
const MAPS = ['tunnels', 'notes'] as const;
const PROGRAM = { title: 'labwire vxlan', label: 'labwire_vxlan' };
/** Headers of IP, UDP and VXLAN. */
const HEADER_BYTES = { 4: 36, 6: 56 } as const;
/** How often (ms) the path MTU of each link is looked up. */
const MTU_MS = 5_000;
/** Links whose probes are due within this time (ms) of each other are probed together. */
const TOGETHER_MS = 50;

const NO_ADDRESS = 'VXLAN does not reach an address of this kind';
const NETWORK_ENDED = "the network namespace of nodes' interfaces has ended; remove the link and make it again";
const LONGER = 'the link has frames that VXLAN with IPv6 cannot carry, as the kernel does not fragment them';

/** What a link by VXLAN says about itself. */
export interface VxlanState {
  isUsed: boolean;
  /** Why it is not used; null if it is. */
  reason: string | null;
  host: string;
  /** As of a UDP tunnel: see TunnelStatistics of the fabric. */
  pathMtu: number;
  longestWhole: number;
  fragmented: number;
  tooLong: number;
}

/** A link for which VXLAN may be used. */
export interface VxlanLink {
  readonly vni: number;
  readonly host: string;
  /** Called when {@link VxlanState.isUsed} has changed. */
  used(isUsed: boolean): void;
  /** Called when its first frames went in fragments. */
  fragmented(state: VxlanState): void;
}

interface Tunnel extends VxlanLink {
  readonly remote: Remote;
  readonly path: VxlanPath;
  readonly index: number;
  pathMtu: number;
  /** When the next probe is due, and the next look at the path MTU. */
  due: number;
  mtuDue: number;
  /** Whether it had frames that do not fit, and how many until the counters were reset. */
  hasUnfit: boolean;
  forgotten: number;
}

interface Opened {
  keeper: number;
  /** What {@link networkNamespace} returned there. */
  namespace: bigint;
  tunnels: BpfMap;
  notes: BpfMap;
  index: number;
  /** Descriptor of the program that sends probes. */
  probe: number;
  /** Closes the maps and the program. */
  close(): void;
}

export class VxlanLinks {
  readonly #network: NodeNetwork;
  readonly #wanted: number;
  /** Interfaces that this process has made or taken over. */
  readonly #tunnels = new Map<string, Tunnel>();
  /** Marks this server's probes. */
  readonly #server = randomInt(1, 2 ** 31);
  /** Hosts of which the log says that they do not answer. */
  readonly #silent = new Set<string>();
  /** Why links do not use VXLAN, by the names of their interfaces. */
  readonly #refusals = new Map<string, string>();
  /** An interface is made again only when it is gone. */
  readonly #turns = new KeyedLock();
  #opened: Opened | undefined;
  /** The last one that the log has. */
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param port the UDP port; 0 for none */
  constructor(network: NodeNetwork, port: number) {
    this.#network = network;
    this.#wanted = port;
  }

  /** The UDP port by which links of other hosts may come; undefined for none. */
  get port(): number | undefined {
    return this.unavailable === undefined ? this.#wanted : undefined;
  }

  /** Why this host has no links by VXLAN; undefined if it may have some. */
  get unavailable(): string | undefined {
    if (this.#wanted === 0) return 'vxlan_port in section [Server] of this host is 0';
    return this.#network.unavailable;
  }

  /** Why the link of this interface does not use VXLAN: {@link add} has returned undefined, or it has ended. */
  refusal(name: string): string | undefined {
    return this.#refusals.get(name);
  }

  /**
   * Makes the interface of a link, or takes over the one that an earlier server has left. Returns the process whose
   * network namespace has it; undefined for a link that cannot use VXLAN now ({@link refusal}).
   * @param owner a note at the interface, without digits at its end
   */
  add(name: string, owner: string, link: VxlanLink): Promise<number | undefined> {
    return this.#turns.run(name, () => this.#add(name, owner, link));
  }

  async #add(name: string, owner: string, link: VxlanLink): Promise<number | undefined> {
    if (this.unavailable !== undefined) return undefined;
    const remote = remoteOf(link.vni, link.host);
    if (remote === undefined) {
      this.#refusals.set(name, NO_ADDRESS);
      return undefined;
    }
    try {
      const { keeper, tunnels, notes, index: vxlan } = this.#open();
      const mtu = measure(link.host);
      const left = inNetworkOf(keeper, () => findLink(name));
      const present = tunnels.get(link.vni);
      // Its frames would go into the other link.
      if (present !== undefined && decodeTunnel(present).index !== left?.index)
        throw conflict(`another link of this host has the VXLAN network identifier ${link.vni}`);
      if (left === undefined) makeBridge(name, keeper);
      else this.#forget(left.alias, link.vni);
      const index = inNetworkOf(keeper, () => {
        const { index: own } = getLink(name);
        // First: removal finds the entries of the maps by the alias.
        changeLink(name, { alias: `${owner} ${link.vni}`, mtu: MOST_MTU_BYTES });
        enter(notes, link.vni, Buffer.alloc(NOTE_BYTES));
        enter(tunnels, link.vni, encodeTunnel(remote, own, longestWhole(remote, mtu)));
        const maps = { tunnels: tunnels.descriptor, notes: notes.descriptor };
        attachProgram(name, { ...PROGRAM, instructions: departureProgram(remote, maps, vxlan), hook: 'egress' });
        keepFromHost(name);
        changeLink(name, { up: true });
        return own;
      });
      const now = performance.now();
      this.#tunnels.set(name, {
        ...link,
        ...{ remote, path: new VxlanPath(), index, pathMtu: mtu },
        ...{ due: now, mtuDue: now + MTU_MS, hasUnfit: false, forgotten: 0 },
      });
      this.#wait();
      this.#failure = undefined;
      this.#refusals.delete(name);
      return keeper;
    } catch (error) {
      await this.#removeFailed(name);
      this.#fail(name, error);
      return undefined;
    }
  }

  has(name: string): boolean {
    return this.#tunnels.has(name);
  }

  /** Undefined if there is no such link by VXLAN. */
  state(name: string): VxlanState | undefined {
    const tunnel = this.#tunnels.get(name);
    return tunnel && this.#stateOf(tunnel);
  }

  /** Counts frames that do not fit from now on. */
  reset(name: string): void {
    const tunnel = this.#tunnels.get(name);
    if (tunnel !== undefined) tunnel.forgotten = this.#noteOf(tunnel).unfit;
  }

  /** Resolves when the kernel is done; its refusals are ignored. */
  remove(name: string): Promise<void> {
    return this.#turns.run(name, () => this.#remove(name));
  }

  async #remove(name: string): Promise<void> {
    this.#tunnels.delete(name);
    this.#refusals.delete(name);
    const keeper = this.#network.find(name);
    if (keeper === undefined) return;
    try {
      if (this.port !== undefined) this.#open();
    } catch (error) {
      log.debug('vxlan: maps not opened', { interface: name, reason: messageOf(error) });
    }
    const removals = inNetworkOf(keeper, () => {
      const link = getLink(name);
      this.#forget(link.alias);
      // An earlier server had other settings.
      const shared = this.port === undefined ? findLink(VXLAN_NAME) : undefined;
      const namespace = networkNamespace();
      return [link, ...(shared ? [shared] : [])].map(({ index }) => ({ index, network: keeper, namespace }));
    });
    await Promise.all(removals.map(removeElsewhere));
  }

  /** What cannot be removed now is taken over with the next link of this interface, or removed with its lab. */
  async #removeFailed(name: string): Promise<void> {
    try {
      await this.#remove(name);
    } catch (error) {
      log.debug('vxlan: interface not removed', { interface: name, reason: messageOf(error) });
    }
  }

  /** Sends no more probes. The links stay. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#close();
  }

  #close(): void {
    this.#tunnels.clear();
    this.#opened?.close();
    this.#opened = undefined;
  }

  /** Lets no more frames in by the number of a link that an interface had. */
  #forget(alias: string, present?: number): void {
    const former = Number(alias.split(' ').at(-1) || Number.NaN);
    if (!Number.isInteger(former) || former === present) return;
    this.#opened?.tunnels.delete(former);
    this.#opened?.notes.delete(former);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const due = Math.min(...Array.from(this.#tunnels.values(), (tunnel) => tunnel.due));
    if (due === Infinity) return;
    this.#timer = setTimeout(() => this.#probe(), Math.max(0, due - performance.now())).unref();
  }

  #probe(): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    const now = performance.now();
    const due = [...this.#tunnels.values()].filter((tunnel) => tunnel.due <= now + TOGETHER_MS);
    try {
      for (const tunnel of due) {
        this.#judge(tunnel, now);
        tunnel.path.sent++;
      }
      inNetworkOf(opened.keeper, () => {
        // The id of an ended process may be reused: the index is another interface's there.
        if (networkNamespace() !== opened.namespace) return;
        for (const { remote, path } of due)
          runTrafficProgram(opened.probe, encodeProbe(remote, this.#server, path.sent));
      });
    } catch (error) {
      // The probes count as unanswered, so that the links use UDP.
      if (!(error instanceof SystemError)) throw error;
      log.debug('vxlan: probes not sent', { reason: messageOf(error) });
    }
    for (const tunnel of due) tunnel.due = now + tunnel.path.waitMs;
    this.#wait();
  }

  #judge(tunnel: Tunnel, now: number): void {
    const { path, host } = tunnel;
    const { answered, unfit } = this.#noteOf(tunnel);
    const [did, failed, hadUnfit] = [isUsed(tunnel), path.fails, tunnel.hasUnfit];
    path.judge(answered);
    tunnel.hasUnfit ||= unfit > 0;
    if (path.fails && !failed && !this.#silent.has(host)) {
      this.#silent.add(host);
      log.warn('links to a host use UDP instead of VXLAN', { host, reason: this.#silence(tunnel) });
    }
    if (path.works && this.#silent.delete(host)) log.info('links to a host use VXLAN again', { host });
    if (now >= tunnel.mtuDue) this.#measure(tunnel, now);
    if (tunnel.hasUnfit && !hadUnfit && fragments(tunnel)) tunnel.fragmented(this.#stateOf(tunnel));
    if (isUsed(tunnel) !== did) tunnel.used(!did);
  }

  #measure(tunnel: Tunnel, now: number): void {
    const { host, vni, remote, index } = tunnel;
    tunnel.mtuDue = now + MTU_MS;
    const mtu = measure(host);
    if (mtu === tunnel.pathMtu) return;
    tunnel.pathMtu = mtu;
    this.#opened!.tunnels.set(vni, encodeTunnel(remote, index, longestWhole(remote, mtu)));
  }

  #stateOf(tunnel: Tunnel): VxlanState {
    const { pathMtu: mtu, remote, host } = tunnel;
    const unfit = this.#noteOf(tunnel).unfit - tunnel.forgotten;
    const longest = longestWhole(remote, mtu);
    const problem = tunnel.path.works ? `${LONGER}: the longest is ${longest} bytes` : this.#silence(tunnel);
    return {
      isUsed: isUsed(tunnel),
      reason: isUsed(tunnel) ? null : problem,
      ...{ host, pathMtu: mtu, longestWhole: longest },
      fragmented: fragments(tunnel) ? unfit : 0,
      tooLong: fragments(tunnel) ? 0 : unfit,
    };
  }

  #silence({ host }: Tunnel): string {
    return `${host} does not answer on UDP port ${this.#wanted}: a firewall drops it, or another program of that host has it`;
  }

  #noteOf({ vni }: Tunnel) {
    return decodeNote(this.#opened!.notes.get(vni) ?? Buffer.alloc(NOTE_BYTES));
  }

  /** @throws when another program has the UDP port, and whatever else the kernel refuses */
  #open(): Opened {
    if (this.#opened !== undefined && this.#opened.keeper === this.#network.open()) return this.#opened;
    // Without its process the namespace is gone with all that was in it.
    for (const [name, tunnel] of this.#tunnels) {
      this.#refusals.set(name, NETWORK_ENDED);
      tunnel.used(false);
    }
    this.#close();
    this.#opened = this.#openVxlan();
    return this.#opened;
  }

  /** What is in the way may be gone when the next link is made. */
  #fail(name: string, error: unknown): void {
    const reason = messageOf(error);
    if (reason !== this.#failure) log.warn('a link to another host does not use VXLAN', { reason });
    this.#failure = reason;
    this.#refusals.set(name, reason);
  }

  #openVxlan(): Opened {
    const keeper = this.#network.open();
    if (keeper === undefined) throw conflict("nodes' interfaces have no network namespace: see the log");
    using undo = new DisposableStack();
    const closeLater = (map: BpfMap): BpfMap => undo.adopt(map, () => map.close());
    const port = `port ${this.#wanted}`;
    const left = inNetworkOf(keeper, () => {
      const link = findLink(VXLAN_NAME);
      const program = link?.alias === port ? programAt(VXLAN_NAME) : undefined;
      const maps = program && openMapsOf(program.id);
      const [tunnels, notes] = MAPS.map((name) => maps?.get(name));
      // Those of another release may look different.
      const areKnown = tunnels?.valueBytes === TUNNEL_BYTES && notes?.valueBytes === NOTE_BYTES;
      for (const map of maps?.values() ?? []) {
        if (areKnown) closeLater(map);
        else map.close();
      }
      if (link !== undefined && !areKnown) removeLink(VXLAN_NAME);
      return areKnown ? { tunnels, notes: notes! } : undefined;
    });
    // Before the maps: if the port is taken, each further link tries again.
    if (left === undefined) this.#make(keeper);
    const { tunnels, notes } = left ?? {
      tunnels: closeLater(BpfMap.create(MAPS[0], 'hash', TUNNEL_BYTES, MOST_TUNNELS)),
      notes: closeLater(BpfMap.create(MAPS[1], 'hash', NOTE_BYTES, MOST_TUNNELS)),
    };
    return inNetworkOf(keeper, () => {
      const { index } = getLink(VXLAN_NAME);
      const maps = { tunnels: tunnels.descriptor, notes: notes.descriptor };
      attachProgram(VXLAN_NAME, { ...PROGRAM, instructions: arrivalProgram(maps, this.#server, index) });
      disableIpv6(VXLAN_NAME);
      changeLink(VXLAN_NAME, { alias: port });
      const probe = undo.adopt(loadTrafficProgram('labwire_probe', probeProgram(index)), closeSync);
      const namespace = networkNamespace();
      const opened = undo.move();
      return { keeper, namespace, tunnels, notes, index, probe, close: () => opened.dispose() };
    });
  }

  /** The kernel takes the UDP port when the interface is brought up. */
  #make(keeper: number): void {
    try {
      makeVxlan(VXLAN_NAME, this.#wanted, keeper);
    } catch (error) {
      if (!(error instanceof Failure && error.cause instanceof SystemError && error.cause.code === 'EEXIST'))
        throw error;
      throw conflict(`another VXLAN interface of this host has UDP port ${this.#wanted}`);
    }
    inNetworkOf(keeper, () => {
      try {
        disableIpv6(VXLAN_NAME);
        changeLink(VXLAN_NAME, { mtu: MOST_MTU_BYTES, up: true });
      } catch (error) {
        removeLink(VXLAN_NAME);
        throw error;
      }
    });
  }
}

/** The kernel fragments packets of VXLAN with IPv4 only: with IPv6 a link that has longer frames uses UDP. */
function fragments({ remote }: Tunnel): boolean {
  return remote.version === 4;
}

function isUsed(tunnel: Tunnel): boolean {
  return tunnel.path.works && (fragments(tunnel) || !tunnel.hasUnfit);
}

/** @throws Failure if the map is full */
function enter(map: BpfMap, vni: number, value: Buffer): void {
  try {
    map.set(vni, value);
  } catch (error) {
    if (!(error instanceof SystemError && error.code === 'E2BIG')) throw error;
    throw conflict(`this host has ${MOST_TUNNELS} links by VXLAN, which is the maximum`);
  }
}

/** The path MTU; without a route the most that a packet can have. */
function measure(host: string): number {
  try {
    return pathMtu(host);
  } catch (error) {
    if (error instanceof SystemError) return 65_535;
    throw error;
  }
}

function longestWhole({ version }: Remote, mtu: number): number {
  return mtu - HEADER_BYTES[version];
}
