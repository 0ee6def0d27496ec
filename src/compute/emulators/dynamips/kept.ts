// What is kept with a running router, to find it again when the server comes back.
import * as v from 'valibot';

const TcpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export const KEPT = {
  version: 1,
  schema: v.object({
    /** Where the emulator takes commands; on loopback, like the following. */
    control_port: TcpPort,
    /** Where it offers the router's console and auxiliary console; null without one. */
    console_port: v.nullable(TcpPort),
    aux_port: v.nullable(TcpPort),
    /** The router as the emulator knows it. */
    vm_name: v.string(),
    dynamips_id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  }),
} as const;

export type RouterKept = v.InferOutput<typeof KEPT.schema>;
