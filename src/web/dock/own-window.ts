// The menu item that opens a tab in its own window, at its own address.

import type { MenuEntry } from '../panels/menu.tsx';
import { WORDS } from '../words.ts';

/** `path` is the screen's path within the lab. */
export function ownWindow(labId: string, path: string): MenuEntry {
  return {
    id: 'window',
    words: WORDS.console.ownWindow,
    run: () => {
      window.open(`/labs/${labId}/${path}`, '_blank', 'noopener');
    },
  };
}
