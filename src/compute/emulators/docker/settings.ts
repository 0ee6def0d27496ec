// The settings of a container's node, and their changes.

import { changeAbsent, type InterfaceSettings } from '../../../api/kinds/absent-settings.ts';
import { type DockerCreate, type DockerUpdate, dockerSettings } from '../../../api/kinds/docker.ts';
import type { customAdapterRows, SettingsOf } from '../../../api/kinds/property.ts';
import { refusal } from './engine.ts';

export type Settings = SettingsOf<typeof dockerSettings> & InterfaceSettings;

/** Settings that are not shown to clients with the others. */
export type HiddenSettings = SettingsOf<typeof customAdapterRows>;

/**
 * @throws Failure `conflict` for a volume that is not an absolute path, contains `..`, or contains the separator of
 * volumes
 */
export function changedSettings(before: Settings, body: DockerCreate | DockerUpdate, nodeId: string): Settings {
  const after: Settings = { ...before };
  for (const member of Object.keys(before) as (keyof Settings)[]) {
    const value = body[member];
    if (value !== undefined) Object.assign(after, { [member]: value });
  }
  changeAbsent(after, body);
  after.adapters ??= 1;
  after.mac_address ??= dockerSettings.mac_address.node(nodeId);
  after.console_resolution ??= '1024x768';
  after.start_command = after.start_command?.trim() || null;
  for (const volume of after.extra_volumes) {
    if (volume.startsWith('/') && !volume.split('/').includes('..') && !/[:\p{Cc}]/u.test(volume)) continue;
    const message = `extra_volumes: ${JSON.stringify(volume)} must be an absolute path in the container, without "..", ":" and line breaks.`;
    throw refusal(message);
  }
  return after;
}

/** Adds the default tag if the name has neither tag nor digest: of a name without a tag the Engine pulls all tags. */
export function fullImageName(image: string): string {
  // A colon before the last slash is that of the registry's port.
  return /@|:[^/]*$/.test(image) ? image : `${image}:latest`;
}
