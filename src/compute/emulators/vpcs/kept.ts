// What is kept with the program of a PC, to join it to its cable again when the server comes back.
import * as v from 'valibot';

const UdpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export const KEPT = {
  version: 1,
  schema: v.object({
    /** UDP port of the program, and the one at its cable's end, which it sends to. */
    program_port: UdpPort,
    cable_port: UdpPort,
    /** Tells the PC from the others of its project. */
    number: v.pipe(v.number(), v.integer(), v.minValue(0)),
  }),
} as const;

export type VpcsKept = v.InferOutput<typeof KEPT.schema>;
