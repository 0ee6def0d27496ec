// Notification streams: one event per line over HTTP, or per text frame over WebSocket. A ping is sent at the start and after each silence.
// With `?since=` each message has a `sequence`, by which a returning client gets what it missed, or a `notifications.gap`. Without it the
// stream is as in release 2.2.57.

import { lineText } from '../../events/json.ts';
import { type Message, withSequence } from '../../events/message.ts';
import type { Subscription } from '../../events/subscription.ts';
import type { Connected } from '../app/route.ts';
import type { MessageSocket } from './message-socket.ts';

export interface StreamOptions {
  /** Silence (ms) before a ping: 5,000 for controllers, 1,000 for computes. */
  silence: number;
  /** Payload of a ping: `cpu_usage_percent` and `memory_usage_percent`. */
  ping: () => object;
  text: (message: Message) => string;
  /**
   * Collects quick events for a few milliseconds. Not for a controller: it must get a node's events before the response to the request that
   * caused them.
   */
  gathers?: boolean;
  /** Called once when the listener disconnects. */
  left?: () => void;
}

/** Unread bytes at which a WebSocket client's messages stay in the queue. */
const SOCKET_BACKLOG_BYTES = 256 * 1024;
/** How often (ms) such a client is checked. */
const PATIENCE_MS = 50;
/** Least time (ms) between two writes to a listener. */
const GATHER_MS = 5;
/** Messages per write. */
const BATCH_MESSAGES = 500;

function pingLine({ numbering }: Subscription, options: StreamOptions): string {
  const line = lineText({ action: 'ping', event: options.ping() });
  return numbering ? withSequence(line, numbering.epoch, numbering.position()) : line;
}

function messageLine({ numbering }: Subscription, options: StreamOptions, message: Message): string {
  const line = options.text(message);
  return numbering ? withSequence(line, message.epoch, message.sequence) : line;
}

function openingLines(subscription: Subscription, options: StreamOptions): string[] {
  const { gap } = subscription;
  if (gap === undefined) return [pingLine(subscription, options)];
  const message = 'Events were missed that are no longer kept: read the current state again.';
  return [
    pingLine(subscription, options),
    lineText({ action: 'notifications.gap', event: { message, since: gap.since }, sequence: gap.position }),
  ];
}

/** The reason of a stream's end, in a form that all notification clients understand. */
function farewellLine(reason: string): string {
  return lineText({ action: 'log.warning', event: { message: reason } });
}

/** The stream as a response with one JSON object per line, made at the client's pace. */
export function lineStream(subscription: Subscription, options: StreamOptions): Response {
  const encoder = new TextEncoder();
  let first = true;
  let over = false;
  const leave = (): void => {
    if (over) return;
    over = true;
    subscription.end();
    options.left?.();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const send = (line: string): void => controller.enqueue(encoder.encode(`${line}\n`));
        if (first) {
          first = false;
          for (const line of openingLines(subscription, options)) send(line);
          return;
        }
        const taken = await subscription.take(options.silence);
        if (over) return;
        if (taken.kind === 'message') {
          const messages = [taken.message, ...subscription.takeAll(BATCH_MESSAGES)];
          return send(messages.map((message) => messageLine(subscription, options, message)).join('\n'));
        }
        if (taken.kind === 'silence') return send(pingLine(subscription, options));
        if (taken.reason) send(farewellLine(taken.reason));
        leave();
        controller.close();
      },
      cancel: leave,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } });
}

/** The stream over a WebSocket. */
export function socketStream(subscription: Subscription, options: StreamOptions): Connected {
  return (socket) => new SocketFeed(socket, subscription, options).start();
}

/** Feeds one WebSocket; combines quick events if allowed, as a write costs more than its content. */
class SocketFeed {
  readonly #socket: MessageSocket;
  readonly #subscription: Subscription;
  readonly #options: StreamOptions;
  #over = false;
  #scheduled = false;
  /** On the clock of `performance.now()`. */
  #sentAt = Number.NEGATIVE_INFINITY;
  #silence: NodeJS.Timeout | undefined;

  constructor(socket: MessageSocket, subscription: Subscription, options: StreamOptions) {
    this.#socket = socket;
    this.#subscription = subscription;
    this.#options = options;
  }

  start(): void {
    const socket = this.#socket;
    const subscription = this.#subscription;
    const options = this.#options;
    socket.listen({
      close: () => {
        if (this.#over) return;
        this.#finish();
        subscription.end();
        options.left?.();
      },
    });
    if (this.#over) return;
    for (const line of openingLines(subscription, options)) socket.send(line);
    this.#silence = setInterval(() => {
      // Its number would be ahead of the waiting events: a client that came back with it would never get these.
      if (!this.#scheduled) socket.send(pingLine(subscription, options));
    }, options.silence);
    subscription.onArrival(() => this.#schedule());
  }

  #schedule(): void {
    if (this.#scheduled || this.#over) return;
    this.#scheduled = true;
    const flush = (): void => this.#flush();
    const wait = this.#sentAt + GATHER_MS - performance.now();
    // Within this process writes are free.
    if (!this.#options.gathers || this.#socket.cork === undefined) queueMicrotask(flush);
    else if (wait > 0) setTimeout(flush, wait);
    else setImmediate(flush);
  }

  #flush(): void {
    const socket = this.#socket;
    const subscription = this.#subscription;
    const options = this.#options;
    this.#scheduled = false;
    if (this.#over) return;
    if (socket.bufferedAmount > SOCKET_BACKLOG_BYTES) {
      this.#scheduled = true;
      setTimeout(() => this.#flush(), PATIENCE_MS);
      return;
    }
    const messages = subscription.takeAll(BATCH_MESSAGES);
    cork(socket, () => {
      for (const message of messages) socket.send(messageLine(subscription, options, message));
    });
    this.#sentAt = performance.now();
    this.#silence?.refresh();
    const reason = subscription.reasonOfEnd;
    if (reason === undefined) {
      if (messages.length === BATCH_MESSAGES) this.#schedule();
      return;
    }
    this.#finish();
    if (reason) socket.send(farewellLine(reason));
    socket.close(1001, reason.slice(0, 120));
  }

  #finish(): void {
    this.#over = true;
    clearInterval(this.#silence);
  }
}

function cork(socket: MessageSocket, send: () => void): void {
  if (socket.cork) socket.cork(send);
  else send();
}
