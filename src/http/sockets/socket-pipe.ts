// Pipes a TCP socket to a WebSocket, at the reader's pace.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageSocket } from './message-socket.ts';

/** Backlog at which reading pauses, and at which it resumes. */
const MOST_WAITING_BYTES = 1024 * 1024;
const RESUME_BYTES = 256 * 1024;
const POLL_MS = 20;

/** Sends all received bytes as binary messages, from now on. */
export function pipeToMessages(socket: Socket, messages: MessageSocket): void {
  socket.on('data', (bytes) => {
    messages.send(bytes);
    if (messages.bufferedAmount <= MOST_WAITING_BYTES) return;
    socket.pause();
    void resumeWhenRead(socket, messages);
  });
  socket.resume();
}

async function resumeWhenRead(socket: Socket, messages: MessageSocket): Promise<void> {
  while (!socket.destroyed && messages.bufferedAmount > RESUME_BYTES) await sleep(POLL_MS);
  socket.resume();
}
