// Bodies that all kinds of node have in common.
import * as v from 'valibot';
import { LINK_TYPES, type LinkType } from '../../fabric/model.ts';
import { CAPTURE_EXTENSIONS } from '../../store/captures.ts';
import { Integer, Text, Uuid } from '../../store/vocabulary.ts';

/** Identifier of a node that is made. Releases before 1.4 numbered their nodes; such a node gets a new identifier. */
export const NodeIdOrNumber = v.union([
  Uuid,
  v.pipe(
    Integer,
    v.transform(() => undefined),
  ),
]);

export const NodeDuplicate = v.strictObject({ destination_node_id: Uuid });

export const NodeCapture = v.strictObject({
  capture_file_name: Text,
  data_link_type: v.optional(v.picklist(Object.keys(LINK_TYPES) as LinkType[]), 'DLT_EN10MB'),
  ...CAPTURE_EXTENSIONS,
  /** An extension: what pcapng says of the port. */
  interface_description: v.optional(Text),
});
export type NodeCapture = v.InferOutput<typeof NodeCapture>;
