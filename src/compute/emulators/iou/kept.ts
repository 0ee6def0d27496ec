// Data kept with a running image to reattach it after a restart of the server.
import * as v from 'valibot';

export const KEPT = {
  version: 1,
  schema: v.object({
    /** The id by which it and its cables find each other. */
    application_id: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(511)),
    /** Name of the link to the image in the node's directory. */
    link: v.nullable(v.string()),
  }),
} as const;

export type IouKept = v.InferOutput<typeof KEPT.schema>;
