import * as v from 'valibot';
import { ConsolePort, CustomAdapter, Integer, Text, Uuid } from '../../../store/vocabulary.ts';
import { NodeIdOrNumber } from '../../nodes/schema.ts';

const MACHINE = {
  usage: v.optional(v.string()),
  linked_clone: v.optional(v.boolean()),
  adapters: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(36))),
  use_any_adapter: v.optional(v.boolean()),
  adapter_type: v.optional(Text),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(v.picklist(['telnet', 'none'])),
  /** MiB; 0 leaves the machine's own. */
  ram: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(65_535))),
  headless: v.optional(v.boolean()),
  on_close: v.optional(v.picklist(['power_off', 'shutdown_signal', 'save_vm_state'])),
  custom_adapters: v.optional(v.array(CustomAdapter)),
};

export const VirtualboxCreate = v.strictObject({
  name: Text,
  vmname: Text,
  node_id: v.optional(NodeIdOrNumber),
  ...MACHINE,
});
export type VirtualboxCreate = v.InferOutput<typeof VirtualboxCreate>;

/** Identifiers, status and directory may be sent along; they change nothing. */
export const VirtualboxUpdate = v.strictObject({
  name: v.optional(Text),
  vmname: v.optional(Text),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
  node_directory: v.optional(v.nullable(v.string())),
  ...MACHINE,
});
export type VirtualboxUpdate = v.InferOutput<typeof VirtualboxUpdate>;
