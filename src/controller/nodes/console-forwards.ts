// Forwards consoles that another host offers only on its loopback: each gets a port on this host, at the address of
// this host's own consoles. The bytes go through the connection to the compute, protected by its user and password.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { MessageSocket } from '../../http/sockets/message-socket.ts';
import { pipeToMessages } from '../../http/sockets/socket-pipe.ts';
import type { ConsoleForward, Node } from './node.ts';

/** This host's ports for consoles. */
export interface ConsolePorts {
  /** The address that they listen on. */
  readonly host: string;
  /** Reserves `wanted` if it is free, otherwise another port. @throws Failure `conflict` when no port is free */
  reserve(owner: string, type: string, wanted: number): Promise<number>;
  release(owner: string, port: number): void;
}

const KEEP_ALIVE_MS = 60_000;

export class ConsoleForwards {
  readonly #ports: ConsolePorts;
  /** The host in addresses of this host's consoles that clients see. */
  readonly #shownHost: string;
  readonly #following = new KeyedLock();
  readonly #open = new Set<ConsoleForward>();

  constructor(ports: ConsolePorts, shownHost: string) {
    this.#ports = ports;
    this.#shownHost = shownHost;
  }

  /** Opens, changes or closes the port of a node according to its present console and compute. Never rejects. */
  async follow(node: Node): Promise<void> {
    if (node.forward === undefined && !node.compute.hidesConsoles) return;
    await this.#following.run(node.id, async () => {
      const { console, console_type: type } = node.record;
      const isWanted = node.compute.hidesConsoles && console !== null && type !== null && type !== 'none';
      if (isWanted && node.forward?.console === console && node.forward.type === type) return;
      node.forward?.[Symbol.dispose]();
      node.forward = undefined;
      if (!isWanted || node.isGone) return;
      try {
        const forward = await this.#forward(node, console, type);
        if (node.isGone) forward[Symbol.dispose]();
        else node.forward = forward;
      } catch (error) {
        log.warn('console of a remote node has no port here', { node: node.id, error: messageOf(error) });
      }
    });
  }

  stop(): void {
    for (const forward of this.#open) forward[Symbol.dispose]();
  }

  async #forward(node: Node, console: number, type: string): Promise<ConsoleForward> {
    const owner = `forward ${node.id}`;
    const port = await this.#ports.reserve(owner, type, console);
    const sockets = new Set<Socket>();
    let server: Server;
    try {
      server = await listen({ host: this.#ports.host, port }, (socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
        void connect(socket, node);
      });
    } catch (error) {
      this.#ports.release(owner, port);
      throw error;
    }
    const forward: ConsoleForward = {
      host: this.#shownHost,
      port,
      console,
      type,
      [Symbol.dispose]: () => {
        if (!this.#open.delete(forward)) return;
        server.close(() => this.#ports.release(owner, port));
        for (const socket of sockets) socket.destroy();
      },
    };
    this.#open.add(forward);
    return forward;
  }
}

async function listen(at: { host: string; port: number }, welcome: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true, pauseOnConnect: true }, welcome);
  server.listen({ ...at, exclusive: true });
  await once(server, 'listening');
  // Ignore a failed connection; the client may retry.
  server.on('error', () => {});
  return server;
}

async function connect(socket: Socket, node: Node): Promise<void> {
  socket.on('error', () => {}); // 'close' follows
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  try {
    join(socket, await node.compute.openSocket(`${node.path}/console/port/ws`));
  } catch (error) {
    socket.end(node.record.console_type === 'telnet' ? `\r\n[disconnected: ${messageOf(error)}]\r\n` : '');
  }
}

function join(socket: Socket, remote: MessageSocket): void {
  remote.listen({
    message: (data) => void socket.write(data),
    close: () => void socket.end(),
    // Backpressure: the compute notices and waits.
    backlog: () => socket.writableLength,
  });
  socket.on('close', () => remote.close(1000, ''));
  if (socket.destroyed) remote.close(1000, '');
  pipeToMessages(socket, remote);
}
