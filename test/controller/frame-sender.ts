// Frames of a test's own into a port of a hub, by a NIO.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { Body } from '../body.ts';
import type { LabServer } from './lab-server.ts';

/** A port of a hub that no test wires. */
const PORT = 7;

interface Target {
  project: Body;
  hub: Body;
  port?: number;
}

export interface FrameSender {
  /** Sends frames into the hub one after the other. */
  send(frames: Iterable<Uint8Array>): Promise<void>;
  close(): void;
}

/** @param post asks the hub's server, whose answer it gives */
export async function openFrameSender(
  post: (path: string, body?: object) => Promise<Body>,
  { project, hub, port = PORT }: Target,
): Promise<FrameSender> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const compute = `/v2/compute/projects/${project.project_id}`;
  const { udp_port: lport } = await post(`${compute}/ports/udp`);
  const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: socket.address().port };
  await post(`${compute}/ethernet_hub/nodes/${hub.node_id}/adapters/0/ports/${port}/nio`, nio);
  return {
    async send(frames) {
      for (const frame of frames) await new Promise((resolve) => socket.send(frame, lport, '127.0.0.1', resolve));
    },
    close: () => void socket.close(),
  };
}

/** The same until the test ends: answers the function that sends. */
export async function frameSender(t: TestContext, server: LabServer, target: Target): Promise<FrameSender['send']> {
  const sender = await openFrameSender((path, body) => server.expect(201, 'POST', path, body), target);
  t.after(() => sender.close());
  return sender.send;
}
