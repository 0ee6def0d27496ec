// Client connections: handles their errors from the first byte and ends those of vanished clients.
import type { Socket } from 'node:net';
import { log } from '../../host/log.ts';
import { lookAtTcp } from '../../host/network/tcp-state.ts';

/** In ms, except the number of probes. */
export interface ConnectionLimits {
  /** After this silence the kernel probes the client `keepAliveProbes` times, every `keepAliveInterval`. */
  keepAliveIdle: number;
  keepAliveInterval: number;
  keepAliveProbes: number;
  /** Longest time that sent data may stay unacknowledged; checked every `look`. */
  unacknowledged: number;
  look: number;
}

/** A vanished client is noticed within 70 s. */
const LIMITS: ConnectionLimits = {
  keepAliveIdle: 30_000,
  keepAliveInterval: 5_000,
  keepAliveProbes: 5,
  unacknowledged: 50_000,
  look: 10_000,
};

/** Node keeps the descriptor only in the socket's handle. */
type SocketWithHandle = Socket & { _handle?: { fd?: number } | null };

interface Connection {
  descriptor: () => number;
  /** Whether data was unacknowledged for too long at the last check. */
  suspected: boolean;
}

/**
 * The connections of a server. A client without network or power sends no end. On an idle connection the kernel's keep-alive detects that;
 * with unacknowledged data the kernel would retry for a quarter of an hour, so this class checks acknowledgements. Slow or paused clients
 * still acknowledge and stay.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #open = new Map<Socket, Connection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  /** Takes a connection as accepted; with TLS the one below it. */
  accept(socket: Socket): void {
    guardSocket(socket);
    socket.setNoDelay(true);
    const { keepAliveIdle, keepAliveInterval, keepAliveProbes, look } = this.#limits;
    socket.setKeepAlive(true, keepAliveIdle, keepAliveInterval, keepAliveProbes);
    // TLS takes the handle from the socket; the descriptor stays.
    const handle = (socket as SocketWithHandle)._handle;
    this.#open.set(socket, { descriptor: () => handle?.fd ?? -1, suspected: false });
    socket.once('close', () => this.#open.delete(socket));
    this.#timer ??= setInterval(() => this.#look(), look).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Closes all connections at once. */
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

/** Without a listener the reset of one connection would end the process. */
export function guardSocket(socket: Socket): void {
  socket.on('error', () => {});
}
