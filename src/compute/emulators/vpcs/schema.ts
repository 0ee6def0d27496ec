import * as v from 'valibot';
import { ConsolePort, Text } from '../../../store/vocabulary.ts';
import { NodeIdOrNumber } from '../../nodes/schema.ts';

const ConsoleType = v.picklist(['telnet', 'none']);

export const VpcsCreate = v.strictObject({
  name: Text,
  node_id: v.optional(NodeIdOrNumber),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(ConsoleType, 'telnet'),
  startup_script: v.optional(v.nullable(v.string())),
});

export type VpcsCreate = v.InferOutput<typeof VpcsCreate>;

export const VpcsUpdate = v.strictObject({
  name: v.optional(v.nullable(Text)),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(ConsoleType),
});

export type VpcsUpdate = v.InferOutput<typeof VpcsUpdate>;
