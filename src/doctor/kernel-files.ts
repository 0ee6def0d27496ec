// Reads the kernel's files on limits and usage (proc(5)).
import { readFileSync } from 'node:fs';

/** The text of a file, undefined if it is missing or may not be read. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** The number in a file; Infinity for `max`; undefined if there is none. */
export function numberIn(path: string): number | undefined {
  const text = textOf(path);
  if (text === 'max') return Number.POSITIVE_INFINITY;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** A soft limit by its name in the text of /proc/PID/limits, such as `Max open files`. */
export function softLimit(name: string, limits: string): number | undefined {
  const [, soft] = new RegExp(`^${name}\\s+(\\d+|unlimited)`, 'm').exec(limits) ?? [];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** A row of /proc/net/tcp, udp and their IPv6 counterparts. */
export interface SocketRow {
  port: number;
  listening: boolean;
  inode: string;
}

/** TCP_LISTEN of linux/net/tcp_states.h, in the files' notation. */
const LISTENING = '0A';

export function socketRows(text: string): SocketRow[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      const port = Number.parseInt(local?.split(':')[1] ?? '', 16);
      return Number.isNaN(port) || inode === undefined ? [] : [{ port, listening: state === LISTENING, inode }];
    });
}

/** The sockets of this host, IPv4 and IPv6; undefined if unavailable. */
export function sockets(protocol: 'tcp' | 'udp'): SocketRow[] | undefined {
  const texts = [textOf(`/proc/net/${protocol}`), textOf(`/proc/net/${protocol}6`)].filter(
    (text) => text !== undefined,
  );
  return texts.length === 0 ? undefined : texts.flatMap(socketRows);
}

/** `8000-8010,9000` as pairs of first and last number. */
export function numberRanges(text: string): [number, number][] {
  return text
    .split(',')
    .filter((range) => range !== '')
    .map((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return [first, last];
    });
}
