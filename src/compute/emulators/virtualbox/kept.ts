// Data recorded for a machine that is on, to reattach it after a restart of the server.
import * as v from 'valibot';

const Port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export const KEPT = v.object({
  node_name: v.string(),
  /** Of the machine. */
  uuid: v.string(),
  /** Adapters connected to the fabric. */
  adapters: v.array(
    v.object({
      /** From 0. */
      number: v.pipe(v.number(), v.integer(), v.minValue(0)),
      /** The UDP ports of the machine and of its cable's end. */
      program_port: Port,
      cable_port: Port,
    }),
  ),
});

export type MachineKept = v.InferOutput<typeof KEPT>;
export type KeptAdapter = MachineKept['adapters'][number];
