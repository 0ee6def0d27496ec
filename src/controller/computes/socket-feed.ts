// The notifications of a compute that come as text over a socket. Nothing of them is trusted.
import type { Relayed } from '../../api/events.ts';
import type { ComputeFeed } from '../../events/feed.ts';
import { log } from '../../host/log.ts';
import type { MessageSocket, SocketData } from '../../http/sockets/message-socket.ts';
import { parseJsonBounded } from '../../store/json.ts';

/** Of one notification: a node with a thousand ports has a tenth of it. */
const MESSAGE_BOUNDS = { maxContainers: 50_000, maxValues: 250_000 };

export function socketFeed(socket: MessageSocket): ComputeFeed {
  return {
    listen: ({ message, close }) =>
      socket.listen({
        message: (data) => {
          const received = messageIn(data);
          if (received) message(received);
          else log.debug('invalid notification from compute');
        },
        close: () => close(),
      }),
    close: () => socket.close(1000, ''),
  };
}

function messageIn(data: SocketData): Relayed | undefined {
  try {
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
    const { action, event, project_id: project } = parseJsonBounded(text, MESSAGE_BOUNDS) as Record<string, unknown>;
    if (typeof action !== 'string' || typeof event !== 'object' || event === null) return undefined;
    const message = { action, event: event as Record<string, unknown> };
    return typeof project === 'string' ? { ...message, project_id: project } : message;
  } catch {
    return undefined;
  }
}
