// The settings of a VirtualBox node (facts of release 2.2.57).

import type { VirtualboxUpdate } from '../../../api/kinds/virtual-machines.ts';
import {
  changedMachineSettings,
  MACHINE_DEFAULTS,
  type MachineSettings,
} from '../../nodes/machines/machine-settings.ts';

export interface Settings extends MachineSettings {
  /** MiB */
  ram: number;
}

export const DEFAULTS: Settings = {
  ...MACHINE_DEFAULTS,
  adapter_type: 'Intel PRO/1000 MT Desktop (82540EM)',
  ram: 0,
};

/** The settings after a change. A memory of 0 stands for the machine's own. */
export function changedSettings(before: Settings, body: VirtualboxUpdate): Settings {
  return { ...changedMachineSettings(before, body), ram: body.ram || before.ram };
}
