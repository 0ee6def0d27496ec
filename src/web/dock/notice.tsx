// Says why a tab cannot show its node.
import type { Connection } from '../console/connection.ts';
import { WORDS } from '../words.ts';

const words = WORDS.console;

/** @param connection undefined until the module that connects is loaded */
export function ConnectionNotice({ connection, name }: { connection: Connection | undefined; name: string }) {
  const state = connection?.state.value ?? 'connecting';
  if (state === 'open') return null;
  const reason = connection?.reason.value ?? '';
  const said = { connecting: words.connecting, lost: words.lost(reason), off: words.off(name) }[state];
  return (
    <p class="notice" role="status">
      {said}
    </p>
  );
}
