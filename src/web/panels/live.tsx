// The state of the connection: a ring and a word; when lost, also for how long and the time of the last message.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Connection, Events } from '../model/server/events.ts';
import { WORDS } from '../words.ts';

const words = WORDS.connection;
const TEXTS: Record<Connection, string> = { connecting: words.connecting, live: words.live, lost: words.lost };

function secondsSince(time: number): number {
  return Math.max(0, Math.round((Date.now() - time) / 1000));
}

export function Live({ events }: { events: Events }) {
  const now = useSignal(0);
  const connection = events.connection.value;
  useEffect(() => {
    if (connection !== 'lost') return;
    const timer = setInterval(() => {
      now.value += 1;
    }, 1000);
    return () => clearInterval(timer);
  }, [connection, now]);
  return (
    <span
      class="live"
      data-connection={connection}
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = events.lastMessage.value ? words.lastMessage(secondsSince(events.lastMessage.value)) : '';
      }}
    >
      <span role="status">{TEXTS[connection]}</span>
      {/* Outside the status, which a screen reader would read out every second. */}
      {connection === 'lost' && now.value >= 0 && <small> {words.lostFor(secondsSince(events.lostSince.value))}</small>}
    </span>
  );
}
