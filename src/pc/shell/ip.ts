// `ip` and `dhcp`: sets addresses manually or automatically.

import {
  formatAddress,
  formatMac,
  isBroadcast,
  isHostAddress,
  isMulticast,
  lasting,
  maskOf,
  parseAddress,
  prefixOfMask,
  sameNetwork,
} from '../address.ts';
import type { DhcpWatch, Lease } from '../dhcp.ts';
import { LEAST_MTU } from '../ipv4.ts';
import { type Job, until } from '../job.ts';
import { LARGEST_PACKET_BYTES } from '../link.ts';
import { bold, type Command, Complaint, matching, type Surroundings } from './command.ts';
import { type OptionRules, parseNumber, parseOptions } from './options.ts';

const WORDS = ['auto', 'dhcp', 'dns', 'domain', 'mtu'];
const DHCP_OPTIONS: OptionRules = { d: 'flag', r: 'flag', x: 'flag' };
const NAME_SERVERS = 2;
const DEFAULT_PREFIX = { 4: 24, 16: 64 } as const;

/** Mask as `/24`, `24` or `255.255.255.0`. */
function prefixIn(text: string, address: Buffer): number | undefined {
  const bits = /^\/?(\d{1,3})$/.exec(text)?.[1];
  if (bits !== undefined) {
    const most = address.length * 8;
    if (Number(bits) >= 1 && Number(bits) <= most) return Number(bits);
    throw new Complaint(`Invalid mask: ${text} is not from 1 to ${most}`);
  }
  const mask = parseAddress(text.replace(/^\//, ''));
  if (mask?.length !== 4 || address.length !== 4 || mask[0]! < 128) return undefined;
  // A gateway in 255.0.0.0/8 does not exist, so this cannot be one.
  return prefixOfMask(mask);
}

/** `<address> [mask] [gateway]` in either order. */
function parseArguments(words: readonly string[]): { address: Buffer; prefix: number; gateway: Buffer | undefined } {
  const [first = '', ...rest] = words;
  const [text, ...masks] = first.split('/');
  const address = parseAddress(text!);
  if (address === undefined) throw new Complaint('Invalid address');
  let prefix: number | undefined;
  let gateway: Buffer | undefined;
  for (const word of [...masks.map((mask) => `/${mask}`), ...rest]) {
    const bits = prefixIn(word, address);
    if (bits !== undefined && prefix === undefined) {
      prefix = bits;
      continue;
    }
    const other = parseAddress(word);
    if (other === undefined || other.length !== address.length || gateway !== undefined) {
      throw new Complaint(`Invalid gateway address: ${word}`);
    }
    gateway = other;
  }
  return { address, prefix: prefix ?? DEFAULT_PREFIX[address.length as 4 | 16], gateway };
}

function* setIpv4(pc: Surroundings, words: readonly string[]): Job {
  const { address, prefix, gateway } = parseArguments(words);
  const isOurs = isHostAddress(address, prefix) && address[0] !== 0 && address[0] !== 127;
  if (!isOurs || isMulticast(address) || address[0]! >= 240) throw new Complaint('Invalid host address');
  if (gateway !== undefined) {
    if (!sameNetwork(address, gateway, prefix)) throw new Complaint('not same subnet');
    if (gateway.equals(address) || isBroadcast(gateway, prefix)) throw new Complaint('Invalid gateway address');
  }
  pc.print('Checking for duplicate address...\n');
  const { ipv4 } = pc.host;
  const owner = yield* until<Buffer | undefined>((resume) => ipv4.checkDuplicate(address, resume));
  if (owner !== undefined) {
    throw new Complaint(`${formatAddress(address)} is being used by MAC ${formatMac(owner)}\nAddress not changed`);
  }
  pc.dhcp.forget();
  ipv4.settings = { address: lasting(address), prefix, gateway: gateway && lasting(gateway) };
  ipv4.neighbours.clear();
  const way = gateway === undefined ? '' : ` gateway ${formatAddress(gateway)}`;
  pc.print(`${nameInMessages(pc)} : ${formatAddress(address)} ${formatAddress(maskOf(prefix))}${way}\n`);
}

/** VPCS calls its first PC `PC1` in messages until it has a name. */
function nameInMessages({ settings }: Surroundings): string {
  return settings.name === 'VPCS' ? 'PC1' : settings.name;
}

function setIpv6(pc: Surroundings, words: readonly string[]): void {
  const { address, prefix, gateway } = parseArguments(words);
  if (isMulticast(address) || address.every((byte) => byte === 0)) throw new Complaint('Invalid host address');
  const { ipv6 } = pc.host;
  ipv6.settings = { address: lasting(address), prefix };
  ipv6.gateway = gateway && lasting(gateway);
  pc.settings.autoconfigures = false;
  const way = gateway === undefined ? '' : `gateway ${formatAddress(gateway)}`;
  pc.print(`${nameInMessages(pc)} : ${formatAddress(address)}/${prefix} ${way}\n`);
}

function setNameServers({ settings }: Surroundings, words: readonly string[]): void {
  if (words.length === 1 && words[0] === '0') {
    settings.dns = [];
    return;
  }
  const servers = words.map(parseAddress);
  if (words.length > NAME_SERVERS || servers.includes(undefined)) throw new Complaint('Invalid address');
  if (servers.length > 0) settings.dns = servers.map((server) => lasting(server!));
}

function setDomain({ settings }: Surroundings, [name]: readonly string[]): void {
  if (name === undefined) return;
  if (name === '0') settings.domain = '';
  else if (/^[\w-]{1,63}(\.[\w-]{1,63}){0,15}$/.test(name)) settings.domain = name;
  else throw new Complaint(`Invalid domain name: ${name}`);
}

function setMtu({ host }: Surroundings, [value]: readonly string[]): void {
  if (value === undefined)
    throw new Complaint(`Incomplete command: ip mtu <bytes>, from ${LEAST_MTU} to ${LARGEST_PACKET_BYTES}`);
  if (/^\d+$/.test(value) && Number(value) < LEAST_MTU)
    throw new Complaint(`Invalid MTU, should bigger than ${LEAST_MTU}`);
  host.ipv4.mtu = parseNumber(value, 'the MTU', [LEAST_MTU, LARGEST_PACKET_BYTES]);
}

function* autoconfigure(pc: Surroundings): Job {
  const { ipv6 } = pc.host;
  const found = yield* until<boolean>((resume) => ipv6.autoconfigure(resume));
  if (!found) throw new Complaint('No router answers with a network for autoconfiguration');
  pc.settings.autoconfigures = true;
  const { settings, router } = ipv6;
  pc.print(`GLOBAL SCOPE      : ${formatAddress(settings!.address)}/${settings!.prefix}\n`);
  pc.print(`ROUTER LINK-LAYER : ${router === undefined ? '' : formatMac(router.mac)}\n`);
}

export function applyLease({ host, dhcp }: Pick<Surroundings, 'host' | 'dhcp'>): void {
  const { lease } = dhcp;
  host.ipv4.settings = lease && { address: lease.address, prefix: lease.prefix, gateway: lease.gateway };
}

function describeLease({ address, prefix, gateway }: Lease): string {
  const way = gateway === undefined ? '' : ` GW ${formatAddress(gateway)}`;
  return ` IP ${formatAddress(address)}/${prefix}${way}\n`;
}

function* runDhcp(words: string[], pc: Surroundings): Job {
  const { flags, words: others } = parseOptions(words, DHCP_OPTIONS);
  if (others.length > 0) throw new Complaint('Invalid options');
  const shows = flags.has('d');
  const watch: DhcpWatch = {
    step: (letter) => void (shows || pc.print(letter)),
    message: (lines) => void (shows && pc.print(`${lines.join('\n')}\n\n`)),
  };
  const { dhcp, host } = pc;
  if (flags.has('x')) {
    const { lease } = dhcp;
    dhcp.release(watch);
    if (lease !== undefined) host.ipv4.settings = undefined;
    return;
  }
  if (!flags.has('r') || dhcp.lease === undefined) host.ipv4.settings = undefined;
  const lease = yield* flags.has('r') ? dhcp.renew(watch) : dhcp.obtain(watch);
  if (lease === undefined) throw new Complaint(`${shows ? '' : '\n'}Can't find dhcp server`);
  applyLease(pc);
  pc.print(describeLease(lease));
}

function* run(words: string[], pc: Surroundings): Job {
  const [first = '', ...rest] = words;
  const [word] = matching(first, WORDS).length === 1 ? matching(first, WORDS) : [];
  if (word === 'dhcp') yield* runDhcp(rest, pc);
  else if (word === 'auto') yield* autoconfigure(pc);
  else if (word === 'dns') setNameServers(pc, rest);
  else if (word === 'domain') setDomain(pc, rest);
  else if (word === 'mtu') setMtu(pc, rest);
  else if (first.includes(':')) setIpv6(pc, words);
  else yield* setIpv4(pc, words);
}

export const ip: Command = {
  summary: ['[arguments]', 'Set addresses, or get them'],
  words: WORDS,
  help: `${bold('ip <address> [<mask>] [<gateway>]')}
  Sets the address, its mask and the gateway, for IPv4 or IPv6; mask and gateway in any order.
  A mask is /26, 26 or 255.255.255.192; without one it is /24, for IPv6 /64.
${bold('ip auto')}
  Gets an IPv6 address from what a router advertises.
${bold('ip dhcp [-d] [-r|-x]')}
  Gets IPv4 address, mask, gateway and name servers by DHCP.
    -d             show the messages
    -r             renew the lease
    -x             give the lease back
${bold('ip dns <address> [<address>]')}
  Sets the name servers; 0 removes them.
${bold('ip domain <name>')}
  Sets the domain of names without a dot; 0 removes it.
${bold('ip mtu <bytes>')}
  Sets the MTU of IPv4, ${LEAST_MTU} at least.
`,
  run,
};

export const dhcp: Command = {
  summary: ['[-options]', `The same as ${bold('ip dhcp')}: get an address`],
  help: `${bold('dhcp [-d] [-r|-x]')}
  Gets IPv4 address, mask, gateway and name servers by DHCP.
    -d             show the messages
    -r             renew the lease
    -x             give the lease back
`,
  run: runDhcp,
};
