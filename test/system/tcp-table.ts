// The TCP connections of a port as the kernel has them: told beside a daemon's log when a test has failed.
import { readFileSync } from 'node:fs';

/** By the kernel's numbers. */
const STATES: Readonly<Record<string, string>> = {
  '01': 'established',
  '02': 'SYN sent',
  '03': 'SYN received',
  '04': 'FIN wait 1',
  '05': 'FIN wait 2',
  '06': 'time wait',
  '07': 'close',
  '08': 'close wait',
  '09': 'last ACK',
  '0A': 'listening',
  '0B': 'closing',
};

/**
 * A line for each socket at this port in the network namespace of a process. `received` are bytes that the program has not read
 * (of a listening one: connections that it has not accepted), `sent` bytes that the peer has not acknowledged.
 */
export function tcpTable(pid: number, port: number): string[] {
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, '0');
  try {
    return ['tcp', 'tcp6'].flatMap((table) =>
      readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, local, remote]) => [local, remote].some((address) => address?.endsWith(`:${hexadecimal}`)))
        .map(([, local, remote, state = '', queues = '']) => {
          const [sent, received] = queues.split(':').map((digits) => Number.parseInt(digits, 16));
          return `${portOf(local)} -> ${portOf(remote)} ${STATES[state] ?? state}, sent ${sent}, received ${received}`;
        }),
    );
  } catch {
    // The process has ended.
    return [];
  }
}

function portOf(address = ''): number {
  return Number.parseInt(address.slice(address.indexOf(':') + 1), 16);
}
