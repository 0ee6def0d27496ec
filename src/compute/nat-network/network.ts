// The NAT network of this server: a segment in memory, a TAP that makes the host its gateway, DHCP, DNS, and the rules
// that translate its nodes' addresses to the host's. It exists while a NAT node is connected.
import { readFileSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { Device, Fabric, MemoryDevice } from '../../fabric/fabric.ts';
import { conflict, messageOf, systemCode } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { interfaceNames } from '../../host/network/interfaces.ts';
import { formatAddress, formatSubnet, type Subnet } from '../../host/network/ipv4.ts';
import { addAddress, changeLink } from '../../host/network/kernel-interfaces.ts';
import { holds } from '../../host/processes/capabilities.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { parseRequest, replyBytes, TYPE } from './dhcp-message.ts';
import { DhcpServer } from './dhcp-server.ts';
import { arpProbe, arpSender, clientMessage, serverFrame } from './frames.ts';
import { NameRelay } from './name-relay.ts';
import { apply, findNft, NO_NFT, ruleset, withoutRules } from './rules.ts';
import { chooseSubnet, gatewayOf, ownSubnets } from './subnet.ts';

const INTERFACE = 'labwire-nat';
const TABLE = 'labwire_nat';
/** Servers on one host that can have a NAT network each. */
const MOST_NETWORKS = 100;
/**
 * File in the state directory with the table of an active network, so that it is found after the process was killed.
 */
const MARK = 'nat-network';
/**
 * MACs of the gateway and the services, locally administered. They are used only on this segment, and never change,
 * because nodes that outlive this process remember them.
 */
const GATEWAY_MAC = '02:6c:77:00:00:01';
const SERVICE_MAC = '026c77000002';
const SEGMENT = { service: SERVICE_MAC, gateway: GATEWAY_MAC.replaceAll(':', '') };
/** The fabric's group: the ports of NAT nodes belong to their common network, not to their labs. */
export const NAT_GROUP = 'nat';

/** A file capability would not be inherited by nft. */
const NO_CAPABILITY =
  'The NAT network needs CAP_NET_ADMIN; let "systemctl edit labwired" add it to CapabilityBoundingSet= and AmbientCapabilities=.';
const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

interface Running {
  readonly name: string;
  readonly segment: MemoryDevice<'nat'>;
  /** Everything that was set up, to be removed in reverse order. */
  readonly parts: AsyncDisposableStack;
}

export class NatNetwork {
  readonly #config: Config;
  readonly #fabric: Fabric;
  readonly #turns = new KeyedLock();
  #running: Running | undefined;
  #members = 0;
  #lastNumber = 0;
  /** Kept beyond the network's end, so that nodes get the same addresses again. */
  #addresses: { subnet: Subnet; server: DhcpServer } | undefined;

  constructor(config: Config, fabric: Fabric) {
    this.#config = config;
    this.#fabric = fabric;
  }

  /** Name of the host's interface in the network. */
  get interface(): string {
    return this.#running?.name ?? `${INTERFACE}0`;
  }

  /** Why this host cannot have such a network, with the fix; undefined if no problem is known. */
  async obstacle(): Promise<string | undefined> {
    if (!holds('CAP_NET_ADMIN')) return NO_CAPABILITY;
    return (await findNft()) === undefined ? NO_NFT : undefined;
  }

  /**
   * Adds a port to the network. The first one sets the network up, the last one removes it.
   * @throws Failure with the problem and the fix
   */
  join(): Promise<{ device: Device; close(): Promise<void> }> {
    return this.#inTurn(async () => {
      this.#running ??= await this.#begin();
      this.#members++;
      const device: Device = { kind: 'memory', device: this.#running.segment, number: ++this.#lastNumber };
      return { device, close: () => this.#leave() };
    });
  }

  /** The addresses leased to these MACs, with their prefixes. */
  leasedTo(macs: readonly string[]): string[] {
    const server = this.#running && this.#addresses?.server;
    return macs.flatMap((mac) => server?.leased(mac.replaceAll(':', '').toLowerCase()) ?? []);
  }

  /** Removes the rules left by a previous run of this server; its interface ended with the process. */
  async removeLeftovers(): Promise<void> {
    const mark = join(this.#config.state, MARK);
    try {
      const number = new RegExp(`^${TABLE}(\\d{1,2})\n$`).exec(readFileSync(mark, 'utf8'))?.[1];
      // If the interface exists, another server uses the number now, and has replaced the table.
      if (number === undefined || interfaceNames([]).includes(`${INTERFACE}${number}`)) await rm(mark);
      else await removeRules(`${TABLE}${number}`, mark);
    } catch (thrown) {
      // Usually the mark does not exist.
      if (systemCode(thrown) !== 'ENOENT') log.warn('cannot look for a NAT network', { reason: messageOf(thrown) });
    }
  }

  /** Removes the network even if ports are left. */
  stop(): Promise<void> {
    return this.#inTurn(() => this.#end());
  }

  #leave(): Promise<void> {
    return this.#inTurn(async () => {
      this.#members--;
      if (this.#members === 0) await this.#end();
    });
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.parts.disposeAsync();
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run('', task);
  }

  async #begin(): Promise<Running> {
    const obstacle = await this.obstacle();
    if (obstacle !== undefined) throw conflict(obstacle);
    const subnet = chooseSubnet(this.#config.Server.nat_subnet, ownSubnets());
    const gateway = gatewayOf(subnet);
    const number = freeNumber();
    const [name, table] = [`${INTERFACE}${number}`, `${TABLE}${number}`];
    await using parts = new AsyncDisposableStack();
    const segment = await this.#openSegment(name, subnet, parts);
    const address = `${formatAddress(gateway)}/${subnet.prefix}`;
    settle(name, address);
    const rebuilt = ({ groups }: { groups: readonly string[] }): void => {
      if (groups.includes(NAT_GROUP)) settleAgain(name, address);
    };
    this.#fabric.on('recovered', rebuilt);
    parts.defer(() => void this.#fabric.off('recovered', rebuilt));
    const relay = new NameRelay();
    parts.defer(() => relay.stop());
    const dns = await relay.start(formatAddress(gateway));
    const mark = join(this.#config.state, MARK);
    await writeFile(mark, `${table}\n`);
    parts.defer(() => removeRules(table, mark));
    await apply(ruleset({ table, name, subnet, gateway, dns }));
    switchForwardingOn();
    log.info('NAT network is up', { interface: name, subnet: formatSubnet(subnet) });
    return { name, segment, parts: parts.move() };
  }

  /** The segment, with the TAP at its port 0. */
  async #openSegment(name: string, subnet: Subnet, parts: AsyncDisposableStack): Promise<MemoryDevice<'nat'>> {
    const uplink = await this.#fabric.createPort(null, undefined, NAT_GROUP);
    parts.defer(() => uplink.close());
    await uplink.connect({ kind: 'tap', interface: name, create: 'always', up: true });
    const server = this.#serverOf(subnet, (address) => segment.tell(arpProbe(SERVICE_MAC, address)));
    const told = (bytes: Uint8Array): void => {
      const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      this.#serve(frame, server, gatewayOf(subnet), segment).catch((error: unknown) => log.error(messageOf(error)));
    };
    const segment = await this.#fabric.createDevice('nat', SEGMENT, told, NAT_GROUP);
    parts.defer(() => segment.close());
    await uplink.setDevice({ kind: 'memory', device: segment, number: 0 });
    return segment;
  }

  #serverOf(subnet: Subnet, probe: (address: number) => void): DhcpServer {
    if (this.#addresses?.subnet.address !== subnet.address || this.#addresses.subnet.prefix !== subnet.prefix) {
      this.#addresses = { subnet, server: new DhcpServer(subnet) };
    }
    this.#addresses.server.probe = probe;
    return this.#addresses.server;
  }

  async #serve(frame: Buffer, server: DhcpServer, gateway: number, segment: MemoryDevice<'nat'>): Promise<void> {
    const sender = arpSender(frame);
    if (sender !== undefined) server.taken(sender);
    const message = clientMessage(frame);
    const request = message && parseRequest(message);
    const reply = request && (await server.answer(request));
    if (!request || !reply) return;
    const everybody = request.broadcast || reply.type === TYPE.nak;
    segment.tell(
      serverFrame({
        mac: SERVICE_MAC,
        client: everybody ? undefined : request.mac,
        from: gateway,
        to: reply.address || request.clientAddress,
        message: replyBytes(request, reply),
      }),
    );
  }
}

/** Makes the host the gateway of the network. */
function settle(name: string, address: string): void {
  changeLink(name, { macAddress: GATEWAY_MAC });
  addAddress(name, address);
}

/** A thread of the fabric has crashed and was restarted, with a new TAP without an address. */
function settleAgain(name: string, address: string): void {
  try {
    settle(name, address);
  } catch (thrown) {
    log.error('the NAT network has lost its gateway', { interface: name, reason: messageOf(thrown) });
  }
}

/** Removes the table, if it exists, and its mark. The mark stays for the next start if that fails. */
async function removeRules(table: string, mark: string): Promise<void> {
  try {
    await apply(withoutRules(table));
    await rm(mark, { force: true });
    log.info('removed the rules of the NAT network', { table });
  } catch (thrown) {
    log.warn('the rules of the NAT network stay', { table, reason: messageOf(thrown) });
  }
}

/** The lowest number without a network on this host. */
function freeNumber(): number {
  const names = new Set(interfaceNames([]));
  for (let number = 0; number < MOST_NETWORKS; number++) if (!names.has(`${INTERFACE}${number}`)) return number;
  throw conflict(`This host has ${MOST_NETWORKS} NAT networks of servers already.`);
}

/** Not reverted later: other programs may rely on it by then. */
function switchForwardingOn(): void {
  try {
    if (readFileSync(FORWARDING, 'latin1').trim() !== '0') return;
    writeFileSync(FORWARDING, '1\n');
    log.info('switched IPv4 forwarding on, for the NAT network', { setting: 'net.ipv4.ip_forward=1' });
  } catch (thrown) {
    const fix = 'let root run: sysctl -w net.ipv4.ip_forward=1';
    const reason = `The NAT network needs IPv4 forwarding, which cannot be switched on (${messageOf(thrown)}); ${fix}`;
    throw conflict(reason, { cause: thrown });
  }
}
