// Settings of nodes that are machines of another program on this host (facts of release 2.2.57).
import type { VirtualboxUpdate } from '../../../api/kinds/virtual-machines.ts';

/** The body of a change to a machine of either program. */
export type MachineUpdate = Omit<VirtualboxUpdate, 'vmname' | 'ram'>;

export interface MachineSettings {
  usage: string;
  linked_clone: boolean;
  headless: boolean;
  on_close: 'power_off' | 'shutdown_signal' | 'save_vm_state';
  adapters: number;
  adapter_type: string;
  use_any_adapter: boolean;
}

/** Defaults of a new node. The adapter type depends on the program. */
export const MACHINE_DEFAULTS: Omit<MachineSettings, 'adapter_type'> = {
  usage: '',
  linked_clone: false,
  headless: false,
  on_close: 'power_off',
  adapters: 0,
  use_any_adapter: false,
};

export function changedMachineSettings(before: MachineSettings, body: MachineUpdate): MachineSettings {
  return {
    usage: body.usage ?? before.usage,
    linked_clone: body.linked_clone ?? before.linked_clone,
    headless: body.headless ?? before.headless,
    on_close: body.on_close ?? before.on_close,
    adapters: body.adapters ?? before.adapters,
    adapter_type: body.adapter_type ?? before.adapter_type,
    use_any_adapter: body.use_any_adapter ?? before.use_any_adapter,
  };
}
