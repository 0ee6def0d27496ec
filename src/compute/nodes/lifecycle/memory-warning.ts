// Warns if a node may use more memory than is free. It starts all the same, as guests seldom use all their memory.
import { freemem } from 'node:os';
import type { Services } from '../../services.ts';
import type { PortOwner } from '../owner.ts';

const MEBIBYTE = 1024 * 1024;

export function warnOfMemory({ name, project }: PortOwner, { events }: Services, mebibytes: number): void {
  const free = Math.trunc(freemem() / MEBIBYTE);
  if (mebibytes <= free) return;
  const message = `${name} may use ${mebibytes} MB of memory, but only ${free} MB are free: it may be ended by the system.`;
  events.emit('log.warning', { message }, project.id);
}
