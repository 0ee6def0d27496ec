// A read-only display: viewers see it, but their keys and pointers are dropped.
import { UnfitMessage, WatcherBytes } from '../../consoles/watched-display.ts';
import { type MessageSocket, POLICY_VIOLATION, type SocketEvents } from '../../http/sockets/message-socket.ts';

/** @param display sends and receives the protocol's bytes; all bytes sent to it are checked first */
export function displayOutput(display: MessageSocket): MessageSocket {
  const bytes = new WatcherBytes();
  let watcher: SocketEvents | undefined;
  let isOver = false;
  return {
    send(data) {
      if (isOver) return;
      try {
        const passing = bytes.take(typeof data === 'string' ? Buffer.from(data) : data);
        if (passing.length > 0) display.send(passing);
      } catch (error) {
        if (!(error instanceof UnfitMessage)) throw error;
        isOver = true;
        display.close();
        watcher?.close?.(POLICY_VIOLATION, error.message);
      }
    },
    get bufferedAmount() {
      return display.bufferedAmount;
    },
    close: (code, reason) => display.close(code, reason),
    listen(events) {
      watcher = events;
      display.listen({
        ...events,
        close: (code, reason) => {
          if (!isOver) events.close?.(code, reason);
        },
      });
    },
  };
}
