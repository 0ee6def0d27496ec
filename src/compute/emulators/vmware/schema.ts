import * as v from 'valibot';
import { ConsolePort, CustomAdapter, Integer, Text, Uuid } from '../../../store/vocabulary.ts';

const MACHINE = {
  usage: v.optional(v.string()),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(v.picklist(['telnet', 'none'])),
  headless: v.optional(v.boolean()),
  on_close: v.optional(v.picklist(['power_off', 'shutdown_signal', 'save_vm_state'])),
  adapters: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(10))),
  adapter_type: v.optional(Text),
  use_any_adapter: v.optional(v.boolean()),
  custom_adapters: v.optional(v.array(CustomAdapter)),
};

export const VmwareCreate = v.strictObject({
  name: Text,
  vmx_path: Text,
  linked_clone: v.boolean(),
  node_id: v.optional(Uuid),
  ...MACHINE,
});
export type VmwareCreate = v.InferOutput<typeof VmwareCreate>;

/** Identifiers, status and directory may be sent along; they change nothing. */
export const VmwareUpdate = v.strictObject({
  name: v.optional(Text),
  vmx_path: v.optional(Text),
  linked_clone: v.optional(v.boolean()),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
  node_directory: v.optional(v.nullable(v.string())),
  ...MACHINE,
});
export type VmwareUpdate = v.InferOutput<typeof VmwareUpdate>;
