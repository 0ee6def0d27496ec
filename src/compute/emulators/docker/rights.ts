// What a container may do beyond its own files: everything (privileged), or what network appliances need.
import { readdirSync } from 'node:fs';
import type { Config } from '../../../config/schema.ts';
import { Failure } from '../../../failures.ts';
import { EngineFailure, exception } from './engine.ts';

/** From the fewest rights to all of them. */
export const LEVELS = ['network', 'system', 'privileged'] as const;
export type Level = (typeof LEVELS)[number];

/** Interfaces, routes, filters, raw packets, multicast, priorities of daemons; in its own network alone. */
const NETWORK = ['NET_ADMIN', 'NET_RAW', 'NET_BROADCAST', 'NET_BIND_SERVICE'];
/** Routing daemons that know VRFs by namespaces (zebra of FRR) end at once without it; it lets a container mount. */
const SYSTEM = [...NETWORK, 'SYS_ADMIN', 'SYS_NICE'];

const PROC_SYS = '/proc/sys';
/** Those of the Engine's own list that are no settings of the kernel. */
const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sysrq-trigger'];

/**
 * The levels that the configuration allows, the first to be tried first.
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

/** A router must be able to switch forwarding on: settings of its own network can be changed, all others only be read. */
function settingsOfHost(): string[] {
  try {
    return readdirSync(PROC_SYS)
      .filter((name) => name !== 'net')
      .map((name) => `${PROC_SYS}/${name}`);
  } catch {
    return [PROC_SYS];
  }
}

/** How programs say that a right is missing. */
export function lacksRights(output: string): boolean {
  return /operation not permitted|permission denied|cap_set_proc|must be (?:run as )?privileged/i.test(output);
}

/** What to do about a start that the Engine refuses because the host itself lacks a right; other failures as they are. */
export function withFix(error: unknown, { privileged }: Config['Docker']): unknown {
  if (privileged !== 'always' || !(error instanceof EngineFailure) || !lacksRights(error.message)) return error;
  const message = `This host does not let containers run privileged (${error.message}); set privileged = automatic in section [Docker].`;
  return new Failure('conflict', message, { exception, cause: error });
}

/** What a level means, for people. */
export function named(level: Level): string {
  return level === 'privileged'
    ? 'privileged'
    : `unprivileged, with ${(level === 'network' ? NETWORK : SYSTEM).join(' ')}`;
}
