// Bodies of the link routes (`Link`, `LinkCapture` of the API).
import * as v from 'valibot';
import { TopologyLink } from '../../api/topology.ts';
import { CAPTURE_EXTENSIONS } from '../../store/captures.ts';
import { LinkImpairmentsBody } from './impairments.ts';

/** Creation and update accept the members of a link in a topology file; read-only ones are ignored. */
export const LinkBody = v.strictObject({
  ...TopologyLink.entries,
  /** An extension; null removes them, as does an empty object. */
  impairments: v.optional(v.nullable(LinkImpairmentsBody)),
});
export type LinkBody = v.InferOutput<typeof LinkBody>;
export type LinkEndBody = NonNullable<LinkBody['nodes']>[number];

export const LinkCapture = v.strictObject({
  data_link_type: v.optional(
    v.picklist(['DLT_ATM_RFC1483', 'DLT_EN10MB', 'DLT_FRELAY', 'DLT_C_HDLC', 'DLT_PPP_SERIAL']),
    'DLT_EN10MB',
  ),
  capture_file_name: v.optional(v.string()),
  ...CAPTURE_EXTENSIONS,
});
export type LinkCapture = v.InferOutput<typeof LinkCapture>;
