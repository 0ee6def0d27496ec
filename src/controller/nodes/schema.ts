// Bodies of the node routes (`NodeCreate`, `NodeUpdate`, `NodeDuplicate` of the API).
import * as v from 'valibot';
import { TopologyNode } from '../../api/topology.ts';
import { Integer, Name, Text } from '../../api/vocabulary.ts';
import { START_MEMBERS } from '../../store/topology/start-order.ts';

/** The members of a node in a topology file, and its start; the domain code decides which ones a request may set. */
export const NodeCreate = v.strictObject({ ...TopologyNode.entries, ...START_MEMBERS, name: Name });
export type NodeCreate = v.InferOutput<typeof NodeCreate>;

/**
 * A client may send a node back unchanged. Old labs have names that are no longer valid, so names are checked only when
 * they change.
 */
export const NodeUpdate = v.strictObject({
  ...v.partial(NodeCreate).entries,
  name: v.optional(Text),
  halt_reason: v.optional(v.nullable(v.string())),
  lost_reason: v.optional(v.string()),
});
export type NodeUpdate = v.InferOutput<typeof NodeUpdate>;

export const NodeDuplicate = v.strictObject({ x: Integer, y: Integer, z: v.optional(Integer, 0) });
export type NodeDuplicate = v.InferOutput<typeof NodeDuplicate>;
