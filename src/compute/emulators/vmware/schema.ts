import * as v from 'valibot';
import { Text, Uuid } from '../../../store/vocabulary.ts';
import { MACHINE_UPDATE_ENTRIES, machineEntries } from '../../nodes/machines/machine-settings.ts';

const MACHINE = machineEntries(10);

export const VmwareCreate = v.strictObject({
  name: Text,
  vmx_path: Text,
  node_id: v.optional(Uuid),
  ...MACHINE,
  linked_clone: v.boolean(),
});
export type VmwareCreate = v.InferOutput<typeof VmwareCreate>;

export const VmwareUpdate = v.strictObject({ ...MACHINE_UPDATE_ENTRIES, vmx_path: v.optional(Text), ...MACHINE });
export type VmwareUpdate = v.InferOutput<typeof VmwareUpdate>;
