// Data kept with a running router to reattach it after a restart of the server.
import * as v from 'valibot';

const TcpPort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export const KEPT = {
  version: 1,
  schema: v.object({
    /** The emulator's control port; on loopback, like the following. */
    control_port: TcpPort,
    /** Ports of the router's console and auxiliary console; null without one. */
    console_port: v.nullable(TcpPort),
    aux_port: v.nullable(TcpPort),
    /** The router's name in the emulator. */
    vm_name: v.string(),
    dynamips_id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  }),
} as const;

export type RouterKept = v.InferOutput<typeof KEPT.schema>;
