// What a node of VirtualBox is configured with (facts of release 2.2.57).
import {
  changedMachineSettings,
  MACHINE_DEFAULTS,
  type MachineSettings,
} from '../../nodes/machines/machine-settings.ts';
import type { VirtualboxUpdate } from './schema.ts';

export interface Settings extends MachineSettings {
  /** MiB */
  ram: number;
}

export const DEFAULTS: Settings = {
  ...MACHINE_DEFAULTS,
  adapter_type: 'Intel PRO/1000 MT Desktop (82540EM)',
  ram: 0,
};

/** The settings with what a body gives. A memory of 0 is the machine's own. */
export function changedSettings(before: Settings, body: VirtualboxUpdate): Settings {
  return { ...changedMachineSettings(before, body), ram: body.ram || before.ram };
}
