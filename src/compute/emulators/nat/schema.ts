// Bodies of NATs (schemas NatCreate, NatUpdate of release 2.2.57).
import * as v from 'valibot';
import { Text, Uuid } from '../../../store/vocabulary.ts';
import { UplinkPortsMapping } from '../../uplinks/ports-mapping.ts';

const members = {
  node_id: v.optional(Uuid),
  /** May be sent along, as a NAT tells it; its port is always the same one. */
  ports_mapping: v.optional(UplinkPortsMapping),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
};

export const NatCreate = v.strictObject({ name: Text, ...members });

export const NatUpdate = v.strictObject({ name: v.optional(Text), project_id: v.optional(Uuid), ...members });
