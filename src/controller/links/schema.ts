// Bodies of the link routes (`Link`, `LinkCapture` of the interface).
import * as v from 'valibot';
import { AnyObject, Integer, Label, Uuid } from '../../store/vocabulary.ts';

export const LinkEndBody = v.strictObject({
  node_id: Uuid,
  adapter_number: Integer,
  port_number: Integer,
  label: v.optional(Label),
});
export type LinkEndBody = v.InferOutput<typeof LinkEndBody>;

/** Creation and update take the same members; the read-only ones are accepted and ignored. */
export const LinkBody = v.strictObject({
  link_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  nodes: v.optional(v.array(LinkEndBody)),
  suspend: v.optional(v.boolean()),
  link_style: v.optional(AnyObject),
  filters: v.optional(AnyObject),
  capturing: v.optional(v.boolean()),
  capture_file_name: v.optional(v.nullable(v.string())),
  capture_file_path: v.optional(v.nullable(v.string())),
  capture_compute_id: v.optional(v.nullable(v.string())),
  link_type: v.optional(v.picklist(['ethernet', 'serial'])),
});
export type LinkBody = v.InferOutput<typeof LinkBody>;

export const LinkCapture = v.strictObject({
  data_link_type: v.optional(
    v.picklist(['DLT_ATM_RFC1483', 'DLT_EN10MB', 'DLT_FRELAY', 'DLT_C_HDLC', 'DLT_PPP_SERIAL']),
    'DLT_EN10MB',
  ),
  capture_file_name: v.optional(v.string()),
});
export type LinkCapture = v.InferOutput<typeof LinkCapture>;
