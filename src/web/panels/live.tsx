// Whether the page shows what is: a ring and a word.
import type { Signal } from '@preact/signals';
import type { Connection } from '../model/events.ts';
import { WORDS } from '../words.ts';

export function Live({ connection }: { connection: Signal<Connection> }) {
  const texts: Record<Connection, string> = {
    connecting: WORDS.connection.connecting,
    live: WORDS.connection.live,
    lost: WORDS.connection.lost,
  };
  return (
    <span class="live" role="status" data-connection={connection.value}>
      {texts[connection.value]}
    </span>
  );
}
