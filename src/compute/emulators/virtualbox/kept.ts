// What is noted of a machine that is on, to find it again when the server comes back.
import * as v from 'valibot';

const Port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export const KEPT = v.object({
  node_name: v.string(),
  /** Of the machine. */
  uuid: v.string(),
  /** Those that lead to the fabric. */
  adapters: v.array(
    v.object({
      /** From 0. */
      number: v.pipe(v.number(), v.integer(), v.minValue(0)),
      /** The machine's UDP port, and the one of its cable's end. */
      program_port: Port,
      cable_port: Port,
    }),
  ),
});

export type MachineKept = v.InferOutput<typeof KEPT>;
export type KeptAdapter = MachineKept['adapters'][number];
