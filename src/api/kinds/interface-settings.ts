// Settings of the interfaces of containers and guests. The release does not have them: nodes with the defaults omit them.
import * as v from 'valibot';
import { p } from './property.ts';
import { between } from './template-members.ts';

const DEFAULTS = { mtu: 1500, offload: true } as const;

const mtu = between(576, 65_521);

export const interfaceSettings = {
  mtu: p(mtu, { template: v.optional(mtu) }),
  offload: p(v.boolean(), { template: v.optional(v.boolean()) }),
};

export const INTERFACE_MEMBERS = ['mtu', 'offload'] as const;

export interface InterfaceSettings {
  mtu?: number;
  offload?: boolean;
}

/** Takes over what a body says of the interfaces. Null changes nothing. */
export function changeInterfaces(
  settings: InterfaceSettings,
  body: { mtu?: number | null | undefined; offload?: boolean | null | undefined },
): void {
  for (const member of INTERFACE_MEMBERS) {
    const value = body[member];
    if (value === DEFAULTS[member]) delete settings[member];
    else if (value != null) Object.assign(settings, { [member]: value });
  }
}
