// Checks the port ranges for consoles and links: how many are free, and whether the kernel assigns them to other programs.
import { BLOCKED_BY_BROWSERS } from '../compute/ports/ports.ts';
import type { Config } from '../config/schema.ts';
import { missing, ok, type Verdict, warning } from '../host/values/check-result.ts';
import type { Check } from './check.ts';
import { numberRanges, sockets, textOf } from './kernel-files.ts';

/** A lab that is not small: with fewer ports people will hit the end of the range. */
const MANY = 200;

interface Range {
  protocol: 'tcp' | 'udp';
  /** Beginning of the keys in [Server]: `console` of `console_start_port_range`. */
  key: 'console' | 'udp';
  avoided: ReadonlySet<number>;
}

/** The ports of a range that the kernel may give to any program for outgoing traffic. */
export function sharedWithKernel(
  first: number,
  last: number,
  local: string,
  reserved: string,
): [number, number] | undefined {
  const [low = 1, high = 0] = local.split(/\s+/).map(Number);
  const [from, to] = [Math.max(first, low), Math.min(last, high)];
  if (from > to) return undefined;
  const covered = numberRanges(reserved).some(([start, end]) => start <= from && end >= to);
  return covered ? undefined : [from, to];
}

/** The setting replaces the whole list, so the command repeats what is reserved when it runs, also by a command before it. */
export function reserving(ports: string): string {
  const key = 'net.ipv4.ip_local_reserved_ports';
  return `now=$(sysctl -n ${key}); sysctl -w "${key}=\${now:+$now,}${ports}"`;
}

function examineRange({ protocol, key, avoided }: Range, { Server }: Config): Verdict {
  const [first, last] = [Server[`${key}_start_port_range`], Server[`${key}_end_port_range`]];
  const keys = `${key}_start_port_range and ${key}_end_port_range in [Server]`;
  const inRange = (port: number): boolean => port >= first && port <= last;
  const rows = sockets(protocol)?.filter(({ listening }) => protocol === 'udp' || listening);
  const used = new Set([...(rows ?? []).map(({ port }) => port), ...avoided].filter(inRange));
  const free = last - first + 1 - used.size;
  const detail = `${first} to ${last}, ${free} of them free`;
  if (free === 0) return missing(detail, `choose another range with ${keys}`);
  if (free < MANY) return warning(detail, `choose a wider range with ${keys}`);
  const local = textOf('/proc/sys/net/ipv4/ip_local_port_range') ?? '';
  const reserved = textOf('/proc/sys/net/ipv4/ip_local_reserved_ports') ?? '';
  const shared = sharedWithKernel(first, last, local, reserved);
  if (shared === undefined) return ok(detail);
  const ports = shared.join('-');
  return warning(`${detail}; the kernel gives ${ports} to outgoing connections of any program, too`, {
    words: `choose another range with ${keys}, or ${reserving(ports)}`,
    commands: [reserving(ports)],
  });
}

export const consolePorts: Check = {
  subject: 'console ports (TCP)',
  see: 'install#ports',
  examine: ({ loaded: { config } }) =>
    examineRange({ protocol: 'tcp', key: 'console', avoided: BLOCKED_BY_BROWSERS }, config),
};

export const cablePorts: Check = {
  subject: 'cable ports (UDP)',
  see: 'install#ports',
  examine: ({ loaded: { config } }) => examineRange({ protocol: 'udp', key: 'udp', avoided: new Set() }, config),
};
