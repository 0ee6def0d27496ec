// Data kept with a PC's program to reconnect it to its cable after a restart of the server.
import * as v from 'valibot';

/** Distinguishes a PC from the others of its project. */
const PcNumber = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Recorded for a built-in PC that is on. */
export const SWITCHED_ON = v.object({ number: PcNumber });

const UdpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export const KEPT = {
  version: 1,
  schema: v.object({
    /** UDP ports of the program and of its cable's end, which it sends to. */
    program_port: UdpPort,
    cable_port: UdpPort,
    number: PcNumber,
  }),
} as const;

export type VpcsKept = v.InferOutput<typeof KEPT.schema>;
