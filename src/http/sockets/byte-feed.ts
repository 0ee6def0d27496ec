// Bytes of a source that grows, over a WebSocket: binary messages at the client's pace, and beside them what the client should know.
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { MessageSocket } from './message-socket.ts';

/** Bytes that a client may leave unread before the source has to wait. */
const BACKLOG_BYTES = 1024 * 1024;
/** Milliseconds after which such a client is looked at again. */
const PATIENCE_MS = 20;
/** Milliseconds between two tellings. */
const TELLING_MS = 1000;

export interface ByteSource {
  /** What comes next; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends reading: a `read` that waits answers, or is not waited for any more. */
  close(): Promise<void>;
  /** What is told as JSON text, whenever it has changed, and once a second at most. */
  told?(): Promise<object>;
  /** Why the source has ended, for the client. */
  end: string;
}

/** Sends everything until the source ends or the client goes; the source is closed then. */
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
