// Notification streams: a line per event over HTTP, or a text frame per event over WebSocket. A ping opens each stream and follows every silence.
// A listener that asks with `?since=` is given a `sequence` with every message; coming back with the last one it gets what it has missed, or
// is told that it cannot (`notifications.gap`). Others see what release 2.2.57 sends.

import { lineText } from '../events/json.ts';
import { type Message, withSequence } from '../events/message.ts';
import type { Subscription } from '../events/subscription.ts';
import type { Connected } from './route.ts';

export interface StreamOptions {
  /** Milliseconds without any event after which a ping is sent: 5,000 for controllers, 1,000 for computes. */
  silence: number;
  /** Payload of a ping: `cpu_usage_percent` and `memory_usage_percent`. */
  ping: () => object;
  /** The text of a message. */
  text: (message: Message) => string;
  /** Called once when the listener has gone. */
  left?: () => void;
}

/** How long a WebSocket client may leave this many bytes unread before its queue grows instead of its socket's. */
const SOCKET_BACKLOG = 256 * 1024;

function pingLine({ numbering }: Subscription, options: StreamOptions): string {
  const line = lineText({ action: 'ping', event: options.ping() });
  return numbering ? withSequence(line, numbering.epoch, numbering.position()) : line;
}

function messageLine({ numbering }: Subscription, options: StreamOptions, message: Message): string {
  const line = options.text(message);
  return numbering ? withSequence(line, numbering.epoch, message.sequence) : line;
}

/** What a stream begins with. */
function openingLines(subscription: Subscription, options: StreamOptions): string[] {
  const { gap } = subscription;
  if (gap === undefined) return [pingLine(subscription, options)];
  const message = 'Events were missed that are no longer kept: read the current state again.';
  return [
    pingLine(subscription, options),
    lineText({ action: 'notifications.gap', event: { message, since: gap.since }, sequence: gap.position }),
  ];
}

/** Why a stream ends, in a form that every client of notifications understands. */
function farewellLine(reason: string): string {
  return lineText({ action: 'log.warning', event: { message: reason } });
}

/** The stream as a response with one JSON object per line. The client's own pace decides when the next line is made. */
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
        if (taken.kind === 'message') return send(messageLine(subscription, options, taken.message));
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

/** The same over a WebSocket. */
export function socketStream(subscription: Subscription, options: StreamOptions): Connected {
  return (socket) => {
    let over = false;
    socket.listen({
      close: () => {
        if (over) return;
        over = true;
        subscription.end();
        options.left?.();
      },
    });
    const run = async (): Promise<void> => {
      for (const line of openingLines(subscription, options)) socket.send(line);
      while (!over) {
        if (socket.bufferedAmount > SOCKET_BACKLOG) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          continue;
        }
        const taken = await subscription.take(options.silence);
        if (over) return;
        if (taken.kind === 'message') socket.send(messageLine(subscription, options, taken.message));
        else if (taken.kind === 'silence') socket.send(pingLine(subscription, options));
        else {
          if (taken.reason) socket.send(farewellLine(taken.reason));
          socket.close(1001, taken.reason.slice(0, 120));
          return;
        }
      }
    };
    void run();
  };
}
