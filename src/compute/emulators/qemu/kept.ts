// Data kept with a running machine to reattach it after a restart of the server.
import * as v from 'valibot';

const UdpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

const Adapter = v.union([
  /** The UDP ports of the machine and of its cable's end. */
  v.object({ program_port: UdpPort, cable_port: UdpPort }),
  /** Name of the TAP whose descriptor the machine has. */
  v.object({ tap: v.string() }),
]);

export type KeptAdapter = v.InferOutput<typeof Adapter>;

export const KEPT = {
  version: 1,
  schema: v.object({
    adapters: v.array(Adapter),
    /** Its console is its first serial port. */
    serial: v.boolean(),
  }),
} as const;

export type QemuKept = v.InferOutput<typeof KEPT.schema>;
