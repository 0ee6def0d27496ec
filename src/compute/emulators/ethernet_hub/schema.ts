import * as v from 'valibot';
import { Integer, Text, Uuid } from '../../../store/vocabulary.ts';

const PortsMapping = v.array(v.strictObject({ name: Text, port_number: v.pipe(Integer, v.minValue(0)) }));

export type PortsMapping = v.InferOutput<typeof PortsMapping>;

export const EthernetHubCreate = v.strictObject({
  name: Text,
  node_id: v.optional(Uuid),
  ports_mapping: v.optional(PortsMapping),
});

/** Identifiers and status may be sent along; they change nothing. */
export const EthernetHubUpdate = v.strictObject({
  name: v.optional(Text),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  ports_mapping: v.optional(PortsMapping),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
});
