// Rights of containers beyond their own files: all (privileged), or those that network appliances need.
import { readdirSync } from 'node:fs';
import type { Config } from '../../../config/schema.ts';
import { EngineFailure, refusal } from './engine.ts';

/** From the fewest rights to all of them. */
export const LEVELS = ['network', 'system', 'privileged'] as const;
export type Level = (typeof LEVELS)[number];

/** Interfaces, routes, filters, raw packets, multicast, priorities of daemons; only in its own network. */
const NETWORK = ['NET_ADMIN', 'NET_RAW', 'NET_BROADCAST', 'NET_BIND_SERVICE'];
/** Routing daemons that implement VRFs by namespaces (zebra of FRR) need it to start. It also allows mounts. */
const SYSTEM = [...NETWORK, 'SYS_ADMIN', 'SYS_NICE'];

const PROC_SYS = '/proc/sys';
/** From the Engine's own list, those that are not kernel settings. */
const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sysrq-trigger'];

/**
 * The levels that the configuration allows, in the order of trying.
 * @param isShared whether people with accounts share the host: a privileged container is root there
 */
export function levelsOf({ privileged }: Config['Docker'], isShared: boolean): readonly Level[] {
  if (privileged === 'always') return ['privileged'];
  return privileged === 'never' || isShared ? ['network', 'system'] : LEVELS;
}

export function rightsOf(level: Level): object {
  if (level === 'privileged') return { Privileged: true, CapAdd: ['ALL'] };
  const CapAdd = level === 'network' ? NETWORK : SYSTEM;
  return { Privileged: false, CapAdd, ReadonlyPaths: [...READ_ONLY, ...settingsOfHost()] };
}

/** A router must be able to enable forwarding: the settings of its own network are writable, all others read-only. */
function settingsOfHost(): string[] {
  try {
    return readdirSync(PROC_SYS)
      .filter((name) => name !== 'net')
      .map((name) => `${PROC_SYS}/${name}`);
  } catch {
    return [PROC_SYS];
  }
}

/** Recognises messages of programs about missing rights. */
export function lacksRights(output: string): boolean {
  return /operation not permitted|permission denied|cap_set_proc|must be (?:run as )?privileged/i.test(output);
}

/** Adds the fix if the Engine refuses a start because of a missing right; other failures stay unchanged. */
export function withFix(error: unknown, { privileged }: Config['Docker']): unknown {
  if (privileged !== 'always' || !(error instanceof EngineFailure) || !lacksRights(error.message)) return error;
  const message = `This host does not let containers run privileged (${error.message}); set privileged = automatic in section [Docker].`;
  return refusal(message, error);
}

/** A level in words. */
export function named(level: Level): string {
  return level === 'privileged'
    ? 'privileged'
    : `unprivileged, with ${(level === 'network' ? NETWORK : SYSTEM).join(' ')}`;
}
