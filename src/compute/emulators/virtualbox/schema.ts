import * as v from 'valibot';
import { Integer, Text } from '../../../store/vocabulary.ts';
import { MACHINE_UPDATE_ENTRIES, machineEntries } from '../../nodes/machines/machine-settings.ts';
import { NodeIdOrNumber } from '../../nodes/schema.ts';

const MACHINE = {
  ...machineEntries(36),
  /** MiB; 0 leaves the machine's own. */
  ram: v.optional(v.pipe(Integer, v.minValue(0), v.maxValue(65_535))),
};

export const VirtualboxCreate = v.strictObject({
  name: Text,
  vmname: Text,
  node_id: v.optional(NodeIdOrNumber),
  ...MACHINE,
});
export type VirtualboxCreate = v.InferOutput<typeof VirtualboxCreate>;

export const VirtualboxUpdate = v.strictObject({ ...MACHINE_UPDATE_ENTRIES, vmname: v.optional(Text), ...MACHINE });
export type VirtualboxUpdate = v.InferOutput<typeof VirtualboxUpdate>;
