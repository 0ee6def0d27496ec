// Checks what clouds and NAT nodes need on this host (docs/clouds.md).
import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { findNft, NO_NFT } from '../compute/nat-network/rules.ts';
import { chooseSubnet, ownSubnets } from '../compute/nat-network/subnet.ts';
import type { Config } from '../config/schema.ts';
import { Failure, systemCode } from '../failures.ts';
import { interfaceNames, isAllowedInterface, VXLAN_NAME } from '../host/network/interfaces.ts';
import { formatSubnet } from '../host/network/ipv4.ts';
import { kernelLinksUnavailable } from '../host/network/kernel-link-support.ts';
import { NodeNetwork } from '../host/network/node-network.ts';
import { type Capability, capabilitiesIn } from '../host/processes/capabilities.ts';
import { runProgram } from '../host/processes/run-program.ts';
import { commands, ok, type Remedy, warning } from '../host/values/check-result.ts';
import { CHECK_MS, type Check, type Patient } from './check.ts';
import { numberIn, sockets, textOf } from './kernel-files.ts';

/** The package's drop-in with the service's capabilities. */
const PACKAGED = '/usr/lib/labwired/interfaces.conf';
const DROP_INS = '/etc/systemd/system/labwired.service.d';

/** Gives the service the rights for this host's networks. */
function dropIn(): Remedy {
  const words = 'install systemd/interfaces.conf as docs/clouds.md says';
  if (!existsSync(PACKAGED)) return { words, commands: [] };
  return {
    words,
    commands: [
      `mkdir -p ${DROP_INS}`,
      `ln -sf ${PACKAGED} ${DROP_INS}/`,
      'systemctl daemon-reload',
      'systemctl reload labwired',
    ],
  };
}

/** Whether NAT nodes are in a network of the server's own. */
function hasOwnNetwork({ Server }: Config): boolean {
  return Server.nat_network === 'automatic' && !interfaceNames([]).includes(Server.default_nat_interface);
}

/** Those of the server that runs, else of this program in its place. */
function heldBy({ daemon }: Patient): Capability[] {
  return capabilitiesIn(textOf(`/proc/${daemon ?? 'self'}/status`) ?? '');
}

export const tun: Check = {
  subject: '/dev/net/tun',
  see: 'clouds#privileges',
  async examine() {
    const error = await access('/dev/net/tun', constants.R_OK | constants.W_OK).catch(systemCode);
    if (error === undefined) return ok('can be opened: for TAPs, ports on bridges, and NAT');
    const cannot = 'clouds get neither TAPs nor bridges, and there is no NAT network';
    if (error !== 'ENOENT')
      return warning(`cannot be opened (${error}): ${cannot}`, {
        words: `chmod 0666 /dev/net/tun; ${dropIn().words}`,
        commands: ['chmod 0666 /dev/net/tun', ...dropIn().commands],
      });
    return warning(`is missing: ${cannot}`, {
      words: 'modprobe tun; a container must be given the device',
      commands: ['modprobe tun'],
    });
  },
};

/** What does not work without it. */
const USES = {
  CAP_NET_ADMIN: 'TAPs, bridges and the NAT network',
  CAP_NET_RAW: 'ports of clouds on Ethernet interfaces',
} as const satisfies Partial<Record<Capability, string>>;

export const capabilities: Check = {
  subject: 'capabilities',
  see: 'clouds#privileges',
  examine(patient) {
    const held = heldBy(patient);
    const wanted = Object.keys(USES) as (keyof typeof USES)[];
    const lacking = wanted.filter((name) => !held.includes(name));
    if (lacking.length === 0) return ok(`${wanted.join(' and ')}: clouds and NAT reach networks of this host`);
    const missing = lacking.map((name) => `${name} is missing, for ${USES[name]}`);
    return warning(missing.join('; '), { ...dropIn(), words: `if labs are to have that: ${dropIn().words}` });
  },
};

/** Why the kernel cannot forward links; undefined if it can. */
function withoutKernelLinks(patient: Patient): string | undefined {
  const held = heldBy(patient);
  const mayLoad = held.includes('CAP_NET_ADMIN') && (held.includes('CAP_BPF') || held.includes('CAP_SYS_ADMIN'));
  return mayLoad ? kernelLinksUnavailable() : 'CAP_BPF and CAP_NET_ADMIN are missing';
}

export const kernelLinks: Check = {
  subject: 'kernel links',
  see: 'performance#links-at-kernel-speed',
  examine(patient) {
    if (patient.loaded.config.Server.kernel_links === 'off')
      return ok('off: the server forwards all frames itself (kernel_links in section [Server])');
    const reason = withoutKernelLinks(patient);
    if (reason === undefined) {
      return heldBy(patient).includes('CAP_SYS_ADMIN')
        ? ok(
            "the kernel forwards plain links between containers, guests and bridges; their interfaces are in a network namespace of the server's own",
          )
        : ok(
            "the kernel forwards plain links between containers and guests; their interfaces are among the host's, as CAP_SYS_ADMIN is missing",
          );
    }
    // Everything works without them, only slower.
    return ok(`${reason}: the server forwards all frames itself; systemd/kernel-links.conf gives the rights`);
  },
};

export const vxlan: Check = {
  subject: 'links to other hosts',
  see: 'computes#vxlan',
  examine(patient) {
    const { config } = patient.loaded;
    const { vxlan_port: port, kernel_links } = config.Server;
    const byUdp = (reason: string) => ok(`by UDP sockets of the server: ${reason}`);
    if (port === 0) return byUdp('vxlan_port in section [Server] is 0');
    if (kernel_links === 'off') return byUdp('kernel_links in section [Server] is off');
    const reason =
      withoutKernelLinks(patient) ??
      (heldBy(patient).includes('CAP_SYS_ADMIN') ? undefined : 'CAP_SYS_ADMIN is missing');
    if (reason !== undefined) return byUdp(reason);
    const ways = `plain links by VXLAN where the other host answers on UDP port ${port}, all others by UDP`;
    if (sockets('udp')?.some((row) => row.port === port) !== true) return ok(ways);
    // Not every user sees the namespace of a server's.
    const isOwn = new NodeNetwork(config.state, '', false).find(VXLAN_NAME) !== undefined;
    if (isOwn) return ok(ways);
    const taken = `UDP port ${port} is taken`;
    if (patient.daemon !== undefined && process.getuid?.() !== 0)
      return ok(`${ways}; ${taken}, by all signs by the running labwired (pid ${patient.daemon})`);
    return warning(
      `${taken} by another program: all links go by UDP`,
      'set the same other vxlan_port in section [Server] of all hosts, and restart their servers',
    );
  },
};

export const allowedInterfaces: Check = {
  subject: 'allowed interfaces',
  see: 'clouds#what-a-port-of-a-cloud-leads-to',
  examine({ loaded: { config } }) {
    const { allowed_interfaces: allowed } = config.Server;
    const names = interfaceNames([]);
    if (allowed.length === 0) return ok('all that the host has');
    const absent = allowed.filter((name) => !names.includes(name) && !name.startsWith('labwire-nat'));
    if (absent.length === 0) return ok(allowed.join(', '));
    return warning(`${absent.join(', ')}: not on this host`, 'correct allowed_interfaces in section [Server]');
  },
};

export const nat: Check = {
  subject: 'NAT',
  see: 'clouds#nat',
  async examine(patient) {
    const { config } = patient.loaded;
    const { default_nat_interface: bridge, nat_network, nat_subnet, allowed_interfaces: allowed } = config.Server;
    if (interfaceNames([]).includes(bridge)) {
      if (isAllowedInterface(bridge, allowed)) return ok(`behind the bridge ${bridge}`);
      return warning(`${bridge} is not among allowed_interfaces: no NAT nodes`, 'add it to allowed_interfaces');
    }
    if (nat_network === 'off') return ok(`there is no ${bridge}, and nat_network is off: no NAT nodes`);
    if ((await findNft()) === undefined) {
      const [problem = '', fix = ''] = NO_NFT.split('; ');
      return warning(problem, { words: fix, commands: ['apt install nftables'] });
    }
    if (!heldBy(patient).includes('CAP_NET_ADMIN'))
      return warning(`there is no ${bridge}, and CAP_NET_ADMIN is missing`, dropIn());
    try {
      return ok(`in a network of the server's own, ${formatSubnet(chooseSubnet(nat_subnet, ownSubnets()))}`);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      return warning(thrown.message, 'set nat_subnet in section [Server]');
    }
  },
};

export const forwarding: Check = {
  subject: 'IPv4 forwarding',
  see: 'clouds#nat',
  async examine({ loaded: { config } }) {
    if (!hasOwnNetwork(config)) return undefined;
    if (numberIn('/proc/sys/net/ipv4/ip_forward') !== 0) return ok('on');
    const error = await access('/proc/sys/net/ipv4/ip_forward', constants.W_OK).catch(systemCode);
    if (error === undefined) return ok('off; the first NAT node that is connected switches it on');
    return warning(
      'off, and this user cannot switch it on: NAT nodes reach nothing',
      commands('sysctl -w net.ipv4.ip_forward=1'),
    );
  },
};

/** Forwarding rules of other programs, such as Docker, drop all unknown traffic. */
export const forwardPolicy: Check = {
  subject: 'firewall',
  see: 'clouds#nat',
  async examine(patient) {
    const nft = await findNft();
    // Whether it may look is this program's business, and no server's.
    const may = heldBy({ ...patient, daemon: undefined }).includes('CAP_NET_ADMIN');
    if (nft === undefined || !hasOwnNetwork(patient.loaded.config) || !may) return undefined;
    const words = ['list', 'chain', 'ip', 'filter', 'FORWARD'];
    const { code, output } = await runProgram(nft, words, { limit: CHECK_MS - 100 });
    if (code !== 0 || !/policy drop/.test(output)) return ok('forwarded frames pass, as far as iptables shows');
    const rules = ['-i', '-o'].map((side) => `iptables -I FORWARD ${side} labwire-nat+ -j ACCEPT`);
    if (/labwire-nat/.test(output)) return ok('lets the NAT network pass');
    return warning('drops what is forwarded (as Docker sets it): NAT nodes reach nothing', commands(...rules));
  },
};
