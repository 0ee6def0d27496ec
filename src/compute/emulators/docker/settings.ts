// What a container's node has: the members of its object that a change may set, with their defaults (facts of release 2.2.57).
import { Failure } from '../../../failures.ts';
import type { CustomAdapter } from '../../../store/vocabulary.ts';
import { exception } from './engine.ts';
import type { DockerCreate, DockerUpdate } from './schema.ts';

export interface Settings {
  adapters: number;
  mac_address: string;
  console_resolution: string;
  console_http_port: number;
  console_http_path: string;
  start_command: string | null;
  environment: string | null;
  extra_hosts: string | null;
  extra_volumes: readonly string[];
}

/** Settings that clients are not told with the others. */
export interface HiddenSettings {
  custom_adapters: readonly CustomAdapter[];
}

export function defaultSettings(nodeId: string): Settings {
  return {
    ...{ adapters: 1, mac_address: defaultMac(nodeId), console_resolution: '1024x768' },
    ...{ console_http_port: 80, console_http_path: '/' },
    ...{ start_command: null, environment: null, extra_hosts: null, extra_volumes: [] },
  };
}

function defaultMac(id: string): string {
  return `02:42:${id.slice(2, 4)}:${id.slice(4, 6)}:${id.slice(6, 8)}:00`.toLowerCase();
}

/** @throws Failure `conflict` for a volume that is no absolute path, climbs, or has what stands between volumes */
export function changedSettings(before: Settings, body: DockerCreate | DockerUpdate, nodeId: string): Settings {
  const after: Settings = { ...before };
  for (const member of Object.keys(before) as (keyof Settings)[]) {
    const value = body[member];
    if (value !== undefined) Object.assign(after, { [member]: value });
  }
  after.adapters ??= 1;
  after.mac_address ??= defaultMac(nodeId);
  after.console_resolution ??= '1024x768';
  after.start_command = after.start_command?.trim() || null;
  for (const volume of after.extra_volumes) {
    if (volume.startsWith('/') && !volume.split('/').includes('..') && !/[:\p{Cc}]/u.test(volume)) continue;
    const message = `extra_volumes: ${JSON.stringify(volume)} must be an absolute path in the container, without "..", ":" and line breaks.`;
    throw new Failure('conflict', message, { exception });
  }
  return after;
}

/** The tag that is meant when none is named. */
export function fullImageName(image: string): string {
  return image.includes(':') ? image : `${image}:latest`;
}

/** MAC address of an adapter: its own, or the node's and its number. */
export function macOf({ mac_address }: Settings, custom: readonly CustomAdapter[], adapter: number): string {
  const own = custom.find(({ adapter_number }) => adapter_number === adapter)?.mac_address;
  if (own !== undefined) return own.toLowerCase();
  const sum = (BigInt(`0x${mac_address.replaceAll(':', '')}`) + BigInt(adapter)) & 0xffff_ffff_ffffn;
  return sum.toString(16).padStart(12, '0').match(/../g)!.join(':');
}
