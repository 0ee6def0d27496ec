// Bodies common to all kinds of node.
import * as v from 'valibot';
import { Text, Uuid } from '../../api/vocabulary.ts';
import { LINK_TYPES, type LinkType } from '../../fabric/model.ts';
import { CAPTURE_EXTENSIONS } from '../../store/captures.ts';

export const NodeDuplicate = v.strictObject({ destination_node_id: Uuid });

export const NodeCapture = v.strictObject({
  capture_file_name: Text,
  data_link_type: v.optional(v.picklist(Object.keys(LINK_TYPES) as LinkType[]), 'DLT_EN10MB'),
  ...CAPTURE_EXTENSIONS,
  /** An extension: the port's description in pcapng. */
  interface_description: v.optional(Text),
});
export type NodeCapture = v.InferOutput<typeof NodeCapture>;
