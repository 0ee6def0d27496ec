// What nodes are configured with that are machines of another program on this host (facts of release 2.2.57).
import type { CustomAdapter } from '../../../store/vocabulary.ts';

export interface MachineSettings {
  usage: string;
  linked_clone: boolean;
  headless: boolean;
  on_close: 'power_off' | 'shutdown_signal' | 'save_vm_state';
  adapters: number;
  adapter_type: string;
  use_any_adapter: boolean;
}

/** Kept, but no member of the object. */
export interface HiddenSettings {
  custom_adapters: readonly CustomAdapter[];
}

/** Of a new node; the type of its adapters is the program's. */
export const MACHINE_DEFAULTS: Omit<MachineSettings, 'adapter_type'> = {
  usage: '',
  linked_clone: false,
  headless: false,
  on_close: 'power_off',
  adapters: 0,
  use_any_adapter: false,
};

type Changes = { [Name in keyof MachineSettings]?: MachineSettings[Name] | null | undefined };

/** The settings with what a body gives; a clone stays one. */
export function changedMachineSettings(before: MachineSettings, body: Omit<Changes, 'linked_clone'>): MachineSettings {
  return {
    usage: body.usage ?? before.usage,
    linked_clone: before.linked_clone,
    headless: body.headless ?? before.headless,
    on_close: body.on_close ?? before.on_close,
    adapters: body.adapters ?? before.adapters,
    adapter_type: body.adapter_type ?? before.adapter_type,
    use_any_adapter: body.use_any_adapter ?? before.use_any_adapter,
  };
}
