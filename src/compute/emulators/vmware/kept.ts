// What is noted of a machine that is on, to find it again when the server comes back.
import * as v from 'valibot';

export const KEPT = v.object({
  node_name: v.string(),
  vmx_path: v.string(),
  /** Those that lead to the fabric: from 0, with the network of each. */
  adapters: v.array(v.object({ number: v.pipe(v.number(), v.integer(), v.minValue(0)), vnet: v.string() })),
  /** Those of the networks that the node was given. */
  networks: v.array(v.string()),
  /** VMware does not tell. */
  suspended: v.boolean(),
});

export type MachineKept = v.InferOutput<typeof KEPT>;
