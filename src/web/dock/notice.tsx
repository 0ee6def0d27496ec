// What hinders a tab from showing its node.
import type { ConnectionState } from '../console/connection.ts';
import { WORDS } from '../words.ts';

const words = WORDS.console;

export function ConnectionNotice({ state, name }: { state: ConnectionState; name: string }) {
  if (state === 'open') return null;
  const said = { connecting: words.connecting, lost: words.lost, off: words.off(name) }[state];
  return (
    <p class="notice" role="status">
      {said}
    </p>
  );
}
