// Frames of a test's own into a port of a hub, by a NIO.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { LabServer } from './lab-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
type Body = any;

/** A port of a hub that no test wires. */
const PORT = 7;

/** Sends frames into the hub one after the other: answers the function for that. */
export async function frameSender(
  t: TestContext,
  server: LabServer,
  { project, hub, port = PORT }: { project: Body; hub: Body; port?: number },
): Promise<(frames: Iterable<Uint8Array>) => Promise<void>> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  const compute = `/v2/compute/projects/${project.project_id}`;
  const { udp_port: lport } = await server.expect(201, 'POST', `${compute}/ports/udp`);
  const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: socket.address().port };
  await server.expect(201, 'POST', `${compute}/ethernet_hub/nodes/${hub.node_id}/adapters/0/ports/${port}/nio`, nio);
  return async (frames) => {
    for (const frame of frames) await new Promise((resolve) => socket.send(frame, lport, '127.0.0.1', resolve));
  };
}
