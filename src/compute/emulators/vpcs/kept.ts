// What is kept with the program of a PC, to join it to its cable again when the server comes back.
import * as v from 'valibot';

/** Tells a PC from the others of its project. */
const PcNumber = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What is noted of a PC that is built in, and on. */
export const SWITCHED_ON = v.object({ number: PcNumber });

const UdpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export const KEPT = {
  version: 1,
  schema: v.object({
    /** UDP port of the program, and the one at its cable's end, which it sends to. */
    program_port: UdpPort,
    cable_port: UdpPort,
    number: PcNumber,
  }),
} as const;

export type VpcsKept = v.InferOutput<typeof KEPT.schema>;
