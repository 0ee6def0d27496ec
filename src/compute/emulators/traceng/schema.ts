import * as v from 'valibot';
import { ConsolePort, Text, Uuid } from '../../../store/vocabulary.ts';

const ConsoleType = v.picklist(['none']);

const COMMON = {
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(ConsoleType),
  ip_address: v.optional(v.string()),
  default_destination: v.optional(v.string()),
};

export const TracengCreate = v.strictObject({ name: Text, node_id: v.optional(Uuid), ...COMMON });
export type TracengCreate = v.InferOutput<typeof TracengCreate>;

export const TracengUpdate = v.strictObject({ name: v.optional(v.nullable(Text)), ...COMMON });
export type TracengUpdate = v.InferOutput<typeof TracengUpdate>;

/** The release takes the destination and does not use it; the default one counts. */
export const TracengStart = v.looseObject({ destination: v.optional(v.string()) });
