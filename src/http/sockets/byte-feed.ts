// Sends a growing source over a WebSocket: binary messages at the client's pace, and status messages as text.
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { MessageSocket } from './message-socket.ts';

/** Unread bytes at which the source must wait. */
const BACKLOG_BYTES = 1024 * 1024;
/** How often (ms) such a client is checked. */
const PATIENCE_MS = 20;
/** Least time (ms) between two status messages. */
const TELLING_MS = 1000;

export interface ByteSource {
  /** The next bytes; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends reading; a pending `read` may stay unanswered. */
  close(): Promise<void>;
  /** The status, sent as JSON when it has changed, at most once a second. */
  told?(): Promise<object>;
  /** The reason of the end, for the client. */
  end: string;
}

/** Sends until the source ends or the client disconnects, then closes the source. */
export async function feedBytes(socket: MessageSocket, source: ByteSource): Promise<void> {
  let open = true;
  const leave = (): void => {
    if (!open) return;
    open = false;
    clearInterval(timer);
    source
      .close()
      .catch((error: unknown) => log.debug('a source of bytes was not closed', { error: messageOf(error) }));
  };
  let said = '';
  const tell = async (): Promise<void> => {
    if (source.told === undefined || socket.bufferedAmount > BACKLOG_BYTES) return;
    const text = JSON.stringify(await source.told());
    if (open && text !== said) socket.send(text);
    said = text;
  };
  const timer = setInterval(() => void tell(), TELLING_MS);
  socket.listen({ close: leave });
  try {
    let first = true;
    while (open) {
      const bytes = await source.read();
      if (!open) return;
      if (bytes === undefined) break;
      socket.send(bytes);
      if (first) await tell();
      first = false;
      while (open && socket.bufferedAmount > BACKLOG_BYTES) await pause(PATIENCE_MS);
    }
    if (!open) return;
    await tell();
    socket.close(1000, source.end);
  } catch (error) {
    if (open) socket.close(1011, Buffer.from(messageOf(error)).subarray(0, 120).toString('utf8'));
  } finally {
    leave();
  }
}
