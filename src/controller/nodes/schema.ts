// Bodies of the node routes (`NodeCreate`, `NodeUpdate`, `NodeDuplicate` of the interface).
import * as v from 'valibot';
import { TopologyNode } from '../../store/topology/schema.ts';
import { START_MEMBERS } from '../../store/topology/start-order.ts';
import { Integer, Name } from '../../store/vocabulary.ts';

/** The members of a node in a topology file, and when it starts; which of them a request may set is the domain's matter. */
export const NodeCreate = v.strictObject({ ...TopologyNode.entries, ...START_MEMBERS, name: Name });
export type NodeCreate = v.InferOutput<typeof NodeCreate>;

/** A client may send a node back as it got it. */
export const NodeUpdate = v.strictObject({
  ...v.partial(NodeCreate).entries,
  halt_reason: v.optional(v.nullable(v.string())),
  lost_reason: v.optional(v.string()),
});
export type NodeUpdate = v.InferOutput<typeof NodeUpdate>;

export const NodeDuplicate = v.strictObject({ x: Integer, y: Integer, z: v.optional(Integer, 0) });
export type NodeDuplicate = v.InferOutput<typeof NodeDuplicate>;
