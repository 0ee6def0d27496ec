// Data recorded for a machine that is on, to reattach it after a restart of the server.
import * as v from 'valibot';

export const KEPT = v.object({
  node_name: v.string(),
  vmx_path: v.string(),
  /** Adapters connected to the fabric: numbers from 0, and networks. */
  adapters: v.array(v.object({ number: v.pipe(v.number(), v.integer(), v.minValue(0)), vnet: v.string() })),
  /** The networks assigned to the node. */
  networks: v.array(v.string()),
  /** Recorded because VMware does not report it. */
  suspended: v.boolean(),
});

export type MachineKept = v.InferOutput<typeof KEPT>;
