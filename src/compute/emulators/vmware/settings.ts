// What a node of VMware is configured with (facts of release 2.2.57).
import type { CustomAdapter } from '../../../store/vocabulary.ts';
import type { VmwareUpdate } from './schema.ts';

export interface Settings {
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

export const DEFAULTS: Settings = {
  usage: '',
  linked_clone: false,
  headless: false,
  on_close: 'power_off',
  adapters: 0,
  adapter_type: 'e1000',
  use_any_adapter: false,
};

/** The settings with what a body gives; a clone stays one. */
export function changedSettings(before: Settings, body: VmwareUpdate): Settings {
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
