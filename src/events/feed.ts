// Feeds a listener of this process with messages as objects, in order and never within the call that emits them.
import type { Relayed } from '../api/events.ts';
import type { Message } from './message.ts';
import type { Subscription } from './subscription.ts';

/** The events of a compute for its controller, from the moment at which it was opened. */
export interface ComputeFeed {
  /** Sets what is called from now on; what came before is delivered first, in order. */
  listen(listener: { message: (message: Relayed) => void; close: () => void }): void;
  close(): void;
}

/** @param ping payload of the message that opens the feed and follows `silence` milliseconds without another */
export function objectFeed(
  subscription: Subscription,
  { silence, ping }: { silence: number; ping: () => object },
): ComputeFeed {
  return {
    listen({ message, close }) {
      const sendPing = (): void => message({ action: 'ping', event: { ...ping() } });
      sendPing();
      const timer = setInterval(sendPing, silence);
      let isScheduled = false;
      const flush = (): void => {
        isScheduled = false;
        for (const taken of subscription.takeAll(Number.POSITIVE_INFINITY)) message(relayed(taken));
        timer.refresh();
        if (subscription.reasonOfEnd === undefined) return;
        clearInterval(timer);
        close();
      };
      subscription.onArrival(() => {
        if (isScheduled) return;
        isScheduled = true;
        queueMicrotask(flush);
      });
    },
    close: () => subscription.end(),
  };
}

function relayed({ action, event, projectId }: Message): Relayed {
  const message = { action, event: event as Readonly<Record<string, unknown>> };
  return projectId === undefined ? message : { ...message, project_id: projectId };
}
