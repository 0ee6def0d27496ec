// WebSockets to a remote compute, for notifications and consoles.
import type { ClientRequest, IncomingMessage } from 'node:http';
import WebSocket, { type ClientOptions } from 'ws';
import { messageOf, systemCode } from '../../failures.ts';
import type { Dial } from '../../host/network/dialing.ts';
import { type MessageSocket, type SocketData, SocketInbox } from '../../http/sockets/message-socket.ts';
import { refusalOf } from './answers.ts';
import { ComputeUnreachable } from './transport.ts';

/** Time limit (ms) for the opening. */
const OPENING_MS = 10_000;
/** How long (ms) between protocol pings, and how many may stay without any sign of life. */
const HEARTBEAT_MS = 10_000;
const MISSED_PINGS = 2;
/** The largest message in bytes; a node's properties with its configuration are far smaller. */
const MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024;
/** Bytes that may be queued: for the listener until reading pauses, and for the compute until it is given up. */
const BACKLOG_BYTES = 1024 * 1024;
const UNSENT_BYTES = 16 * 1024 * 1024;
/** How often (ms) a slow listener is checked again. */
const PATIENCE_MS = 20;
/** Characters read of a rejection's body. */
const REFUSAL_CHARACTERS = 64 * 1024;

export interface RemoteSocketOptions {
  headers: Record<string, string>;
  /** Closes the socket. */
  signal: AbortSignal;
  /** Opens the connection; without it, TCP. */
  dial?: Dial;
  /** Called with the socket as soon as it is open. */
  opened?: (socket: WebSocket) => void;
  /** Called when nothing has arrived for two pings. */
  vanished: () => void;
}

/** @throws ComputeRefusal, ComputeUnreachable */
export async function openRemoteSocket(
  url: string,
  { headers, signal, dial, opened, vanished }: RemoteSocketOptions,
): Promise<MessageSocket> {
  const socket = new WebSocket(url, {
    headers,
    rejectUnauthorized: false,
    handshakeTimeout: OPENING_MS,
    maxPayload: MESSAGE_LIMIT_BYTES,
    perMessageDeflate: false,
    ...(dial && { createConnection: dial as unknown as NonNullable<ClientOptions['createConnection']> }),
  });
  const inbox = new SocketInbox();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on('open', resolve);
  socket.on('unexpected-response', (request, answer) => {
    refusedOpening(answer, request, new URL(url).pathname).then(reject, reject);
  });
  socket.on('error', (error) => {
    const reason = systemCode(error) ?? messageOf(error);
    reject(new ComputeUnreachable(`The compute does not open ${url}: ${reason}.`, { cause: error }));
  });
  socket.on('message', (data: Buffer, isBinary) => {
    inbox.message(isBinary ? data : data.toString('utf8'));
    if (inbox.backlog > BACKLOG_BYTES) waitForListener(socket, inbox);
  });
  socket.on('close', (code, reason) => {
    inbox.close(code, reason.toString());
  });
  await promise;
  opened?.(socket);
  closeWith(signal, socket);
  keepAlive(socket, vanished);
  return {
    send: (data: SocketData) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (socket.bufferedAmount > UNSENT_BYTES) socket.terminate();
      else socket.send(data);
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    close: (code, reason) => socket.close(code, reason),
    listen: (listener) => inbox.listen(listener),
  };
}

/** Stops reading until the listener has passed on most of its data: the compute notices and waits, too. */
function waitForListener(socket: WebSocket, inbox: SocketInbox): void {
  if (socket.isPaused) return;
  socket.pause();
  const look = (): void => {
    if (inbox.backlog > BACKLOG_BYTES / 2 && socket.readyState === WebSocket.OPEN) setTimeout(look, PATIENCE_MS);
    else socket.resume();
  };
  setTimeout(look, PATIENCE_MS);
}

function closeWith(signal: AbortSignal, socket: WebSocket): void {
  const close = (): void => socket.close(1000);
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  socket.on('close', () => signal.removeEventListener('abort', close));
}

function keepAlive(socket: WebSocket, vanished: () => void): void {
  let missed = 0;
  const alive = (): void => {
    missed = 0;
  };
  for (const sign of ['message', 'ping', 'pong'] as const) socket.on(sign, alive);
  const timer = setInterval(() => {
    // While reading is paused, silence proves nothing about the other side.
    if (socket.isPaused) return alive();
    if (missed >= MISSED_PINGS) {
      socket.terminate();
      return vanished();
    }
    missed += 1;
    socket.ping();
  }, HEARTBEAT_MS);
  timer.unref();
  socket.on('close', () => clearInterval(timer));
}

/** Reads the answer of a compute that does not open a WebSocket; same time limit as the opening. */
async function refusedOpening(answer: IncomingMessage, request: ClientRequest, path: string): Promise<Error> {
  let text = '';
  const timer = setTimeout(() => request.destroy(), OPENING_MS);
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk;
      if (text.length > REFUSAL_CHARACTERS) break;
    }
  } catch {
    // The status suffices.
  }
  clearTimeout(timer);
  request.destroy();
  const retryAfter = answer.headers['retry-after'] ?? null;
  return refusalOf(answer.statusCode ?? 0, text, `WebSocket ${path}`, retryAfter);
}
