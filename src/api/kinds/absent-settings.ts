// Settings that the release does not have: nodes with the defaults omit them.
import * as v from 'valibot';
import { p } from './property.ts';
import { between } from './template-members.ts';

const DEFAULTS: Required<AbsentSettings> = { mtu: 1500, offload: true, guest_agent: false };

const mtu = between(576, 65_521);
const optionalFlag = p(v.boolean(), { template: v.optional(v.boolean()) });

/** Of the interfaces of containers and guests. */
export const interfaceSettings = { mtu: p(mtu, { template: v.optional(mtu) }), offload: optionalFlag };

/** A channel to the QEMU guest agent. */
export const guestAgentSetting = { guest_agent: optionalFlag };

export const ABSENT_MEMBERS = Object.keys(DEFAULTS) as readonly (keyof AbsentSettings)[];

export interface InterfaceSettings {
  mtu?: number;
  offload?: boolean;
}
export interface AbsentSettings extends InterfaceSettings {
  guest_agent?: boolean;
}

/** Takes over what a body says of them. Null changes nothing. */
export function changeAbsent(
  settings: AbsentSettings,
  body: { readonly [Member in keyof AbsentSettings]?: AbsentSettings[Member] | null | undefined },
): void {
  for (const member of ABSENT_MEMBERS) {
    const value = body[member];
    if (value === DEFAULTS[member]) delete settings[member];
    else if (value != null) Object.assign(settings, { [member]: value });
  }
}
