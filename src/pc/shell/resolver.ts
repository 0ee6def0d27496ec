// The PC's name servers and domain: as set by the user, otherwise from the lease.

import type { Resolver } from '../target.ts';
import type { Surroundings } from './command.ts';

export function resolverOf({ settings, dhcp }: Pick<Surroundings, 'settings' | 'dhcp'>): Resolver {
  const { lease } = dhcp;
  return {
    servers: settings.dns.length > 0 ? settings.dns : (lease?.dns ?? []),
    domain: settings.domain === '' ? (lease?.domain ?? '') : settings.domain,
  };
}
