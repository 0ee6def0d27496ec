// Notification streams: a line per event over HTTP, or a text frame per event over WebSocket. A ping opens each stream and follows every silence.

import { lineText } from '../events/json.ts';
import type { Message } from '../events/message.ts';
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

function pingLine(options: StreamOptions): string {
  return lineText({ action: 'ping', event: options.ping() });
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
          return send(pingLine(options));
        }
        const taken = await subscription.take(options.silence);
        if (over) return;
        if (taken.kind === 'message') return send(options.text(taken.message));
        if (taken.kind === 'silence') return send(pingLine(options));
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
      socket.send(pingLine(options));
      while (!over) {
        if (socket.bufferedAmount > SOCKET_BACKLOG) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          continue;
        }
        const taken = await subscription.take(options.silence);
        if (over) return;
        if (taken.kind === 'message') socket.send(options.text(taken.message));
        else if (taken.kind === 'silence') socket.send(pingLine(options));
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
