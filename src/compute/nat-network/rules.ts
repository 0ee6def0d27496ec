// The host's packet filter rules for the NAT network: a table of our own, created and removed as a whole.
import { conflict, type Failure, messageOf } from '../../failures.ts';
import { formatAddress, formatSubnet, type Subnet } from '../../host/network/ipv4.ts';
import { findProgram } from '../../host/processes/program-path.ts';
import { runProgram } from '../../host/processes/run-program.ts';

const PROGRAM = 'nft';
/** Time limit (ms) of nft. */
const TIMEOUT_MS = 10_000;

export interface NatRules {
  table: string;
  /** The host's interface in the network. */
  name: string;
  subnet: Subnet;
  gateway: number;
  /** UDP port of the name server at the gateway's address. */
  dns: number;
}

/**
 * A script for nft, which the kernel applies completely or not at all. An existing table is replaced. Nodes reach
 * everything that this host reaches, with its address; from outside only answers reach them.
 */
export function ruleset({ table, name, subnet, gateway, dns }: NatRules): string {
  const network = formatSubnet(subnet);
  return `${withoutRules(table)}table ip ${table} {
  chain services {
    type nat hook prerouting priority dstnat
    iifname "${name}" ip daddr ${formatAddress(gateway)} udp dport 53 redirect to :${dns}
  }
  chain outgoing {
    type nat hook postrouting priority srcnat
    ip saddr ${network} ip daddr != ${network} oifname != "${name}" masquerade
  }
  chain guard {
    type filter hook forward priority filter
    iifname "${name}" ip saddr != ${network} drop
    oifname "${name}" ct state established,related accept
    oifname "${name}" drop
  }
}
`;
}

/** Removes the table, if it is there. */
export function withoutRules(table: string): string {
  return `add table ip ${table}\ndelete table ip ${table}\n`;
}

/** The path of nft; undefined if it is not installed. */
export function findNft(): Promise<string | undefined> {
  return findProgram(PROGRAM);
}

/** @throws Failure `conflict` with what is missing, or nft's message */
export async function apply(script: string): Promise<void> {
  const path = await findNft();
  if (path === undefined) throw conflict(NO_NFT);
  const refused = (reason: string, cause?: unknown): Failure =>
    conflict(`The rules of the NAT network cannot be set: ${reason}`, { cause });
  const { code, errors } = await runProgram(path, [script], { limit: TIMEOUT_MS, rights: true }).catch(
    (thrown: unknown) => {
      throw refused(`${path} ${messageOf(thrown)}.`, thrown);
    },
  );
  if (code === 0) return;
  if (/not permitted/i.test(errors)) {
    throw refused(
      'nft may not; give the server CAP_NET_ADMIN in CapabilityBoundingSet= and AmbientCapabilities= of its unit.',
    );
  }
  throw refused(`${path} says: ${errors.trim().split('\n', 1)[0] || `exit code ${code}`}`);
}

export const NO_NFT = 'The NAT network needs the program nft; install it (Debian: apt install nftables).';
