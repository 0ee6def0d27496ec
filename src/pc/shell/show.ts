// `show` and related commands: the PC's settings and state.

import { formatAddress, formatMac } from '../address.ts';
import type { Job } from '../job.ts';
import type { Neighbours } from '../neighbours.ts';
import { DEFAULT_NAME } from '../settings.ts';
import { bold, type Command, Complaint, choose, type Surroundings } from './command.ts';
import { resolverOf } from './resolver.ts';

const TOPICS = ['arp', 'dump', 'echo', 'history', 'ip', 'ipv6', 'neighbor', 'version'];
/** The cable is made by the lab: the PC has no UDP ports of its own to show. */
const NO_PORT = '0';
const NO_PEER = '127.0.0.1:0';

/** The first lines of a console; scripts look for the first words. */
export const VERSION = `
Welcome to Virtual PC Simulator, version 0.8 (built into Labwire)
`;

/** `10.0.0.1/24`; zeros without an address. */
function ipv4Of({ host }: Surroundings): string {
  const { settings } = host.ipv4;
  return settings === undefined ? '0.0.0.0/0' : `${formatAddress(settings.address)}/${settings.prefix}`;
}

function gatewayOf({ host }: Surroundings): string {
  const gateway = host.ipv4.settings?.gateway;
  return gateway === undefined ? '0.0.0.0' : formatAddress(gateway);
}

function linkLocalOf({ host }: Surroundings): string {
  return `${formatAddress(host.ipv6.linkLocal)}/64`;
}

function globalOf({ host }: Surroundings): string {
  const { settings } = host.ipv6;
  return settings === undefined ? '' : `${formatAddress(settings.address)}/${settings.prefix}`;
}

/** In tables; VPCS numbers its PCs as long as they have no names. */
function nameOf({ settings }: Surroundings): string {
  return settings.name === DEFAULT_NAME ? `${DEFAULT_NAME}1` : settings.name;
}

function columns(...cells: [text: string, width: number][]): string {
  return `${cells.map(([text, width]) => text.padEnd(width - 1)).join(' ')}\n`;
}

function nameServers(pc: Surroundings): string {
  const { servers } = resolverOf(pc);
  return servers.map((server) => `${formatAddress(server)}  `).join('');
}

function showAll(pc: Surroundings): void {
  const mac = formatMac(pc.host.link.mac);
  pc.print(columns(['NAME', 7], ['IP/MASK', 21], ['GATEWAY', 18], ['MAC', 19], ['LPORT', 7], ['RHOST:PORT', 11]));
  const last = `${NO_PORT.padEnd(6)} ${NO_PEER}\n`;
  pc.print(columns([nameOf(pc), 7], [ipv4Of(pc), 21], [gatewayOf(pc), 18], [mac, 19]).replace('\n', ` ${last}`));
  pc.print(`       ${linkLocalOf(pc)}\n`);
  if (pc.host.ipv6.settings !== undefined) pc.print(`       ${globalOf(pc)} \n`);
}

function lines(pc: Surroundings, width: number, entries: [string, string][]): void {
  for (const [name, value] of entries) pc.print(`${name.padEnd(width)}: ${value}\n`);
}

function leaseLines({ dhcp, host }: Surroundings): [string, string][] {
  const { lease } = dhcp;
  if (lease === undefined) return [];
  const left = Math.max(0, Math.ceil(lease.seconds - (host.timers.now() - lease.began) / 1000));
  return [
    ['DHCP SERVER', formatAddress(lease.server)],
    ['DHCP LEASE', `${left}, ${lease.seconds}/${lease.renewal}/${lease.rebinding}`],
  ];
}

function cableLines(pc: Surroundings, mtu: string): [string, string][] {
  return [
    ['MAC', formatMac(pc.host.link.mac)],
    ['LPORT', NO_PORT],
    ['RHOST:PORT', NO_PEER],
    ['MTU:', mtu],
  ];
}

function showIp(pc: Surroundings, all: boolean): void {
  if (all) {
    const mac = formatMac(pc.host.link.mac);
    pc.print(columns(['NAME', 7], ['IP/MASK', 21], ['GATEWAY', 18], ['MAC', 19], ['DNS', 4]));
    const row = columns([nameOf(pc), 7], [ipv4Of(pc), 21], [gatewayOf(pc), 18], [mac, 19]);
    pc.print(row.replace('\n', ` ${nameServers(pc).trimEnd()}\n`));
    return;
  }
  const { domain } = resolverOf(pc);
  lines(pc, 12, [
    ['NAME', `${pc.settings.name}[1]`],
    ['IP/MASK', ipv4Of(pc)],
    ['GATEWAY', gatewayOf(pc)],
    ['DNS', nameServers(pc)],
    ...leaseLines(pc),
    ...(domain === '' ? [] : ([['DOMAIN NAME', domain]] as [string, string][])),
    ...cableLines(pc, String(pc.host.ipv4.mtu)),
  ]);
}

function showIpv6(pc: Surroundings, all: boolean): void {
  const { router, mtu } = pc.host.ipv6;
  const routerMac = router === undefined ? '' : formatMac(router.mac);
  if (all) {
    pc.print(columns(['NAME', 7], ['IP/MASK', 44], ['ROUTER LINK-LAYER', 19], ['MTU', 4]));
    pc.print(columns([nameOf(pc), 7], [linkLocalOf(pc), 44]));
    if (globalOf(pc) !== '') pc.print(columns(['', 7], [globalOf(pc), 44], [routerMac, 19], [String(mtu), 5]));
    return;
  }
  lines(pc, 18, [
    ['NAME', `${pc.settings.name}[1]`],
    ['LINK-LOCAL SCOPE', linkLocalOf(pc)],
    ['GLOBAL SCOPE', globalOf(pc)],
    ['ROUTER LINK-LAYER', routerMac],
    ...cableLines(pc, String(mtu)),
  ]);
}

function showNeighbours(pc: Surroundings, neighbours: Neighbours, name: string): void {
  const entries = neighbours.entries();
  if (entries.length === 0) pc.print(`${name} table is empty\n`);
  for (const { address, mac, seconds } of entries) {
    pc.print(`${formatMac(mac)}  ${formatAddress(address)} expires in ${seconds} seconds \n`);
  }
}

/** `dump flags: mac raw` */
export function dumpFlags({ settings }: Surroundings): string {
  return `dump flags: ${settings.dump.length === 0 ? '(none)' : settings.dump.join(' ')}\n`;
}

function showTopic(pc: Surroundings, topic: string, all: boolean): void {
  switch (topic) {
    case 'arp':
      showNeighbours(pc, pc.host.ipv4.neighbours, 'arp');
      break;
    case 'neighbor':
      showNeighbours(pc, pc.host.ipv6.neighbours, 'neighbor');
      break;
    case 'dump':
      pc.print(dumpFlags(pc));
      break;
    case 'echo':
      pc.print(`Echo ${pc.settings.echoes ? 'On' : 'Off'}\n`);
      break;
    case 'history':
      for (const line of pc.history) pc.print(`${line}\n`);
      break;
    case 'ip':
      showIp(pc, all);
      break;
    case 'ipv6':
      showIpv6(pc, all);
      break;
    default:
      pc.print(VERSION.trimStart());
  }
}

/** There is one PC here; scripts for VPCS may name it by its number. */
function isAll(words: readonly string[]): boolean {
  const [which, ...more] = words;
  if (more.length > 0 || !['all', '1', undefined].includes(which)) throw new Complaint('Invalid arguments');
  return which === 'all';
}

// biome-ignore lint/correctness/useYield: nothing to wait for
function* run(words: string[], pc: Surroundings): Job {
  const [first, ...rest] = words;
  if (first !== 'history') pc.print('\n');
  if (first === undefined || first === 'all') showAll(pc);
  else showTopic(pc, choose(first, TOPICS, 'Invalid arguments'), isAll(rest));
}

export const show: Command = {
  summary: ['[arguments]', `Show addresses and settings; see ${bold('show ?')}`],
  words: TOPICS,
  help: `${bold('show [arp|dump|echo|history|ip [all]|ipv6 [all]|neighbor|version]')}
  Shows what the PC is set to and what it knows; its addresses, without an argument.
    arp            neighbours with IPv4 and their MAC addresses
    dump           which packets are shown
    echo           whether scripts show their commands
    history        the commands that were typed
    ip [all]       addresses, name servers and MTU of IPv4; in a table
    ipv6 [all]     the same of IPv6
    neighbor       neighbours with IPv6 and their MAC addresses
    version        what this is
`,
  run,
};

function shortcut(topic: string, does: string): Command {
  return {
    summary: ['', `The same as ${bold(`show ${topic}`)}: ${does}`],
    help: `${bold(topic)}\n  The same as ${bold(`show ${topic}`)}: ${does}.\n`,
    run: (words, pc) => run([topic, ...words], pc),
  };
}

export const arp = shortcut('arp', 'neighbours and their MAC addresses');
export const history = shortcut('history', 'the commands that were typed');
export const version = shortcut('version', 'what this is');
