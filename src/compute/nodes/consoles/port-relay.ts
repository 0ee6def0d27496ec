// Relays a VNC display or console port of a node over a WebSocket: unchanged bytes in binary messages.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { conflict, messageOf } from '../../../failures.ts';
import type { Connected } from '../../../http/app/route.ts';
import type { MessageSocket } from '../../../http/sockets/message-socket.ts';
import { pipeToMessages } from '../../../http/sockets/socket-pipe.ts';

const CONNECT_MS = 5_000;
/** Limit of input that waits for a port that does not read. */
const MOST_INPUT_BYTES = 1024 * 1024;
/** Close codes of RFC 6455's registry: going away, try again later. */
const GONE = 1001;
const TRY_AGAIN_LATER = 1013;

/**
 * Connects to a port.
 * @param what for messages: `display of PC1`
 * @param host the address that it listens on
 * @throws Failure `conflict` when it does not answer
 */
export async function relayPort(what: string, host: string, port: number): Promise<Connected> {
  const socket = connect({
    host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host,
    port,
    noDelay: true,
  });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
  } catch (error) {
    socket.destroy();
    throw conflict(`The ${what} on port ${port} does not answer: ${messageOf(error)}`);
  }
  socket.pause();
  return (client) => join(socket, client, what);
}

function join(socket: Socket, client: MessageSocket, what: string): void {
  const end = (): void => void socket.destroy();
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => client.close(GONE, farewell(`The ${what} has ended.`)));
  client.listen({
    message: (data) => {
      if (socket.writableLength > MOST_INPUT_BYTES) {
        client.close(TRY_AGAIN_LATER, farewell(`The ${what} does not read.`));
        end();
      } else socket.write(data);
    },
    close: end,
  });
  pipeToMessages(socket, client);
}

/** A close frame holds 123 bytes of reason. */
function farewell(text: string): string {
  return Buffer.from(text).subarray(0, 120).toString('utf8');
}
