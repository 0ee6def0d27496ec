// The NAT network of this server: a segment in memory, a TAP by which the host is its gateway, DHCP and names, and the rules that
// give its nodes the host's own address outside. It is there as long as a NAT node is connected.
import { readFileSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { Device, Fabric, MemoryDevice } from '../../fabric/fabric.ts';
import { Failure, messageOf, systemCode } from '../../failures.ts';
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
/** In the state directory: the table of a network that is up, so that it is found again after the process was killed. */
const MARK = 'nat-network';
/**
 * MACs of the gateway and of the services, locally administered: known on this one segment alone, and always the same, as nodes
 * that outlive this process remember them.
 */
const GATEWAY_MAC = '02:6c:77:00:00:01';
const SERVICE_MAC = '026c77000002';
const SEGMENT = { service: SERVICE_MAC, gateway: GATEWAY_MAC.replaceAll(':', '') };
/** Group of the fabric: the ports of NAT nodes are with the network that they share, not with their labs. */
export const NAT_GROUP = 'nat';

/** A capability of the file alone would not reach nft. */
const NO_CAPABILITY =
  'The NAT network needs CAP_NET_ADMIN; let "systemctl edit labwired" add it to CapabilityBoundingSet= and AmbientCapabilities=.';
const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

interface Running {
  readonly name: string;
  readonly segment: MemoryDevice<'nat'>;
  /** Everything that was set up, to be taken down in the other order. */
  readonly parts: AsyncDisposableStack;
}

export class NatNetwork {
  readonly #config: Config;
  readonly #fabric: Fabric;
  readonly #turns = new KeyedLock();
  #running: Running | undefined;
  #members = 0;
  #lastNumber = 0;
  /** Kept beyond the network's end, so that nodes find their addresses again. */
  #addresses: { subnet: Subnet; server: DhcpServer } | undefined;

  constructor(config: Config, fabric: Fabric) {
    this.#config = config;
    this.#fabric = fabric;
  }

  /** Name of the host's interface in the network. */
  get interface(): string {
    return this.#running?.name ?? `${INTERFACE}0`;
  }

  /** Why there can be no such network on this host, and what to do about it; undefined if nothing is known to be in its way. */
  async obstacle(): Promise<string | undefined> {
    if (!holds('CAP_NET_ADMIN')) return NO_CAPABILITY;
    return (await findNft()) === undefined ? NO_NFT : undefined;
  }

  /**
   * A place in the network for one port; the first one sets the network up, and with the last one it goes.
   * @throws Failure that says what is missing, and what to do about it
   */
  join(): Promise<{ device: Device; close(): Promise<void> }> {
    return this.#inTurn(async () => {
      this.#running ??= await this.#begin();
      this.#members++;
      const device: Device = { kind: 'memory', device: this.#running.segment, number: ++this.#lastNumber };
      return { device, close: () => this.#leave() };
    });
  }

  /** Takes away the rules that a former life of this server has left behind; its interface went with the process. */
  async removeLeftovers(): Promise<void> {
    const mark = join(this.#config.state, MARK);
    try {
      const number = new RegExp(`^${TABLE}(\\d{1,2})\n$`).exec(readFileSync(mark, 'utf8'))?.[1];
      // Where there is such an interface, another server has taken the number over, and has replaced the table.
      if (number === undefined || interfaceNames([]).includes(`${INTERFACE}${number}`)) await rm(mark);
      else await removeRules(`${TABLE}${number}`, mark);
    } catch (thrown) {
      // Usually there is no mark.
      if (systemCode(thrown) !== 'ENOENT') log.warn('cannot look for a NAT network', { reason: messageOf(thrown) });
    }
  }

  /** Takes the network down, whoever is in it. */
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
    if (obstacle !== undefined) throw new Failure('conflict', obstacle);
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

/** A thread of the fabric has died and was rebuilt, with a TAP of that name that has no address. */
function settleAgain(name: string, address: string): void {
  try {
    settle(name, address);
  } catch (thrown) {
    log.error('the NAT network has lost its gateway', { interface: name, reason: messageOf(thrown) });
  }
}

/** Removes the table, whether it is there or not, and its mark; the mark stays when that cannot be done, for the next start. */
async function removeRules(table: string, mark: string): Promise<void> {
  try {
    await apply(withoutRules(table));
    await rm(mark, { force: true });
    log.info('removed the rules of the NAT network', { table });
  } catch (thrown) {
    log.warn('the rules of the NAT network stay', { table, reason: messageOf(thrown) });
  }
}

/** The lowest number that no network on this host has. */
function freeNumber(): number {
  const names = new Set(interfaceNames([]));
  for (let number = 0; number < MOST_NETWORKS; number++) if (!names.has(`${INTERFACE}${number}`)) return number;
  throw new Failure('conflict', `This host has ${MOST_NETWORKS} NAT networks of servers already.`);
}

/** Stays on afterwards: by then other programs may count on it. */
function switchForwardingOn(): void {
  try {
    if (readFileSync(FORWARDING, 'latin1').trim() !== '0') return;
    writeFileSync(FORWARDING, '1\n');
    log.info('switched IPv4 forwarding on, for the NAT network', { setting: 'net.ipv4.ip_forward=1' });
  } catch (thrown) {
    const fix = 'let root run: sysctl -w net.ipv4.ip_forward=1';
    const reason = `The NAT network needs IPv4 forwarding, which cannot be switched on (${messageOf(thrown)}); ${fix}`;
    throw new Failure('conflict', reason, { cause: thrown });
  }
}
