// Bodies of the node routes (`NodeCreate`, `NodeUpdate`, `NodeDuplicate` of the interface).
import * as v from 'valibot';
import { TopologyNode } from '../../store/topology/schema.ts';
import { Integer } from '../../store/vocabulary.ts';

/** The members of a node in a topology file; which of them a request may set is the domain's matter. */
export const NodeCreate = TopologyNode;
export type NodeCreate = v.InferOutput<typeof NodeCreate>;

export const NodeUpdate = v.partial(TopologyNode);
export type NodeUpdate = v.InferOutput<typeof NodeUpdate>;

export const NodeDuplicate = v.strictObject({ x: Integer, y: Integer, z: v.optional(Integer, 0) });
export type NodeDuplicate = v.InferOutput<typeof NodeDuplicate>;

export const QemuResize = v.strictObject({
  drive_name: v.picklist(['hda', 'hdb', 'hdc', 'hdd']),
  extend: Integer,
});
