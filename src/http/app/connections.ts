// Connections that clients have made: each has its handlers from its first byte, and those whose client has vanished are ended.
import type { Socket } from 'node:net';
import { log } from '../../host/log.ts';
import { lookAtTcp } from '../../host/network/tcp-state.ts';

/** In milliseconds, but for the number of probes. */
export interface ConnectionLimits {
  /** Silence of a client after which the kernel asks whether it is still there, every `keepAliveInterval`, `keepAliveProbes` times. */
  keepAliveIdle: number;
  keepAliveInterval: number;
  keepAliveProbes: number;
  /** How long the kernel of a client may leave what was sent without an acknowledgement, looked at every `look`. */
  unacknowledged: number;
  look: number;
}

/** A client that has vanished is noticed within 70 s. */
const LIMITS: ConnectionLimits = {
  ...{ keepAliveIdle: 30_000, keepAliveInterval: 5_000, keepAliveProbes: 5 },
  ...{ unacknowledged: 50_000, look: 10_000 },
};

/** A socket as Node keeps it: the descriptor is known to its handle alone. */
type SocketWithHandle = Socket & { _handle?: { fd?: number } | null };

interface Connection {
  descriptor: () => number;
  /** Whether the last look found that something had been unacknowledged for too long. */
  suspected: boolean;
}

/**
 * The connections of one server. A client that lost its network or its power sends no end. While nothing is on the way, the kernel's
 * keep-alive finds that out; while something is, only its own count of acknowledgements tells, as it goes on sending for a quarter of an
 * hour. A client that is merely slow, or stopped, acknowledges all the same and stays.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #open = new Map<Socket, Connection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  /** Takes a connection as the listener accepts it; below TLS, that is the plain one. */
  accept(socket: Socket): void {
    guardSocket(socket);
    socket.setNoDelay(true);
    const { keepAliveIdle, keepAliveInterval, keepAliveProbes, look } = this.#limits;
    socket.setKeepAlive(true, keepAliveIdle, keepAliveInterval, keepAliveProbes);
    // TLS takes the handle away from the socket, but not its descriptor.
    const handle = (socket as SocketWithHandle)._handle;
    this.#open.set(socket, { descriptor: () => handle?.fd ?? -1, suspected: false });
    socket.once('close', () => this.#open.delete(socket));
    this.#timer ??= setInterval(() => this.#look(), look).unref();
  }

  /** Number of connections. */
  get size(): number {
    return this.#open.size;
  }

  /** Ends all of them at once. */
  destroy(): void {
    clearInterval(this.#timer);
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #look(): void {
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const [socket, connection] of this.#open) {
      const descriptor = connection.descriptor();
      const { unacknowledged, silence } = (descriptor >= 0 && lookAtTcp(descriptor)) || {
        unacknowledged: 0,
        silence: 0,
      };
      const late = unacknowledged > 0 && silence > this.#limits.unacknowledged;
      if (late && connection.suspected) {
        log.info('a client has vanished', { client: socket.remoteAddress, unacknowledged, silence });
        socket.destroy();
      }
      connection.suspected = late;
    }
  }
}

/** A reset of a connection that nobody listens to any more ends that connection, and nothing else. */
export function guardSocket(socket: Socket): void {
  socket.on('error', () => {});
}
