// Which name servers and domain a PC uses: those that were set, else those of its lease.

import type { Resolver } from '../target.ts';
import type { Surroundings } from './command.ts';

export function resolverOf({ settings, dhcp }: Pick<Surroundings, 'settings' | 'dhcp'>): Resolver {
  const { lease } = dhcp;
  return {
    servers: settings.dns.length > 0 ? settings.dns : (lease?.dns ?? []),
    domain: settings.domain === '' ? (lease?.domain ?? '') : settings.domain,
  };
}
