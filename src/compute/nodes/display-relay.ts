// A VNC display over a WebSocket: the bytes of the protocol (RFC 6143) as they are, in binary messages.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, messageOf } from '../../failures.ts';
import type { Connected } from '../../http/route.ts';
import type { MessageSocket } from '../../http/sockets.ts';

const CONNECT_MS = 5_000;
/** What may wait for a client before no more is read for it, and when reading goes on. */
const MOST_WAITING_BYTES = 1024 * 1024;
const RESUME_BYTES = 256 * 1024;
const LOOK_MS = 20;
/** What may wait for a display that reads nothing. */
const MOST_INPUT_BYTES = 1024 * 1024;
/** Close codes of RFC 6455's registry: going away, try again later. */
const GONE = 1001;
const TRY_AGAIN_LATER = 1013;

/**
 * Connects with the display.
 * @param host the address that it listens on
 * @throws Failure `conflict` when it does not answer
 */
export async function relayDisplay(name: string, host: string, port: number): Promise<Connected> {
  const socket = connect({
    host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host,
    port,
    noDelay: true,
  });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
  } catch (error) {
    socket.destroy();
    throw new Failure('conflict', `The display of ${name} on port ${port} does not answer: ${messageOf(error)}`);
  }
  socket.pause();
  return (client) => join(socket, client);
}

function join(display: Socket, client: MessageSocket): void {
  const end = (): void => void display.destroy();
  display.on('data', (bytes) => {
    client.send(bytes);
    if (client.bufferedAmount <= MOST_WAITING_BYTES) return;
    display.pause();
    void resumeWhenRead(display, client);
  });
  display.on('error', () => {}); // 'close' follows
  display.on('close', () => client.close(GONE, 'The display has ended.'));
  client.listen({
    message: (data) => {
      if (display.writableLength > MOST_INPUT_BYTES) {
        client.close(TRY_AGAIN_LATER, 'The display does not read.');
        end();
      } else display.write(data);
    },
    close: end,
  });
  display.resume();
}

async function resumeWhenRead(display: Socket, client: MessageSocket): Promise<void> {
  while (!display.destroyed && client.bufferedAmount > RESUME_BYTES) await sleep(LOOK_MS);
  display.resume();
}
