// Ways to end the fabric's workers that no caller has.

import { subscribe } from 'node:diagnostics_channel';
import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import type { FabricPort } from '../../src/fabric/fabric.ts';

/** All workers of this process, in the order in which they were made. */
export const workers: Worker[] = [];
subscribe('worker_threads', (message) => workers.push((message as { worker: Worker }).worker));

/** The newest worker ends wherever it is, without a chance to clean up, as when it has no memory left. */
export function terminateLast(port: FabricPort): void {
  void workers.at(-1)!.terminate();
  port.statistics().catch(() => {}); // it waits for frames, and ends when it wakes up
}

/** The poller of a process that watches the socket at a UDP port: where a worker of the fabric waits. */
export function pollerOf(udpPort: number, pid: number | 'self' = 'self'): number {
  const local = `:${udpPort.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/udp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const inodes = sockets.filter(([, address]) => address?.endsWith(local)).map((columns) => columns[9]);
  const descriptors = readdirSync(`/proc/${pid}/fd`);
  const link = (descriptor: string): string => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
    } catch {
      return ''; // closed meanwhile
    }
  };
  const socket = descriptors.find((descriptor) => inodes.some((inode) => link(descriptor) === `socket:[${inode}]`));
  const watches = new RegExp(`^tfd: +${socket} `, 'm');
  const poller = descriptors.find(
    (descriptor) =>
      link(descriptor) === 'anon_inode:[eventpoll]' &&
      watches.test(readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1')),
  );
  if (poller === undefined) throw new Error(`nobody waits for frames at UDP port ${udpPort}`);
  return Number(poller);
}

/** The worker whose port has that UDP port cannot wait any more, and throws. */
export function breakWait(udpPort: number, port: FabricPort): void {
  closeSync(pollerOf(udpPort));
  port.statistics().catch(() => {});
}
