// A program that speaks UDP with a port of a node, as a node of another host would.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { Lab, NodeObject } from './lab.ts';

const HOST = '127.0.0.1';

export class UdpPeer {
  /** The UDP port of the node's port. */
  readonly lport: number;
  /** Everything that came. */
  readonly heard: Buffer[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket, lport: number) {
    this.#socket = socket;
    this.lport = lport;
    socket.on('message', (frame) => this.heard.push(frame));
  }

  /** Gives a port of a hub or switch a NIO that leads here, until the test ends. */
  static async at(
    t: TestContext,
    { daemon, project }: Lab,
    kind: string,
    node: NodeObject,
    port: number,
  ): Promise<UdpPeer> {
    const socket = createSocket('udp4').bind(0, HOST);
    t.after(() => socket.close());
    await once(socket, 'listening');
    const compute = `/v2/compute/projects/${project.project_id}`;
    const { udp_port: lport } = await daemon.post(`${compute}/ports/udp`);
    const nio = { type: 'nio_udp', lport, rhost: HOST, rport: socket.address().port };
    await daemon.post(`${compute}/${kind}/nodes/${node.node_id}/adapters/0/ports/${port}/nio`, nio);
    return new UdpPeer(socket, lport);
  }

  send(frame: Buffer | string): void {
    this.#socket.send(frame, this.lport, HOST);
  }
}
