// What nodes are configured with that are machines of another program on this host (facts of release 2.2.57).
import * as v from 'valibot';
import { ConsolePort, CustomAdapter, Integer, Text, Uuid } from '../../../store/vocabulary.ts';

/** Members of bodies that every program's machines have. @param mostAdapters how many adapters any of them can have */
export const machineEntries = (mostAdapters: number) => ({
  usage: v.optional(v.string()),
  linked_clone: v.optional(v.boolean()),
  adapters: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(mostAdapters))),
  use_any_adapter: v.optional(v.boolean()),
  adapter_type: v.optional(Text),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(v.picklist(['telnet', 'none'])),
  headless: v.optional(v.boolean()),
  on_close: v.optional(v.picklist(['power_off', 'shutdown_signal', 'save_vm_state'])),
  custom_adapters: v.optional(v.array(CustomAdapter)),
});

/** Those of a change alone: identifiers, status and directory may be sent along; they change nothing. */
export const MACHINE_UPDATE_ENTRIES = {
  name: v.optional(Text),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
  node_directory: v.optional(v.nullable(v.string())),
};

const MachineUpdate = v.object({ ...MACHINE_UPDATE_ENTRIES, ...machineEntries(0) });
export type MachineUpdate = v.InferOutput<typeof MachineUpdate>;

export interface MachineSettings {
  usage: string;
  linked_clone: boolean;
  headless: boolean;
  on_close: 'power_off' | 'shutdown_signal' | 'save_vm_state';
  adapters: number;
  adapter_type: string;
  use_any_adapter: boolean;
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

/** The settings with what a body gives. */
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
