// The menu item that opens a tab in its own window, at its own address.
import { WORDS } from '../words.ts';
import type { DockAction } from './entries.ts';

/** `path` is the screen's path within the lab. */
export function ownWindow(labId: string, path: string): DockAction {
  return {
    id: 'window',
    words: WORDS.console.ownWindow,
    run: () => {
      window.open(`/labs/${labId}/${path}`, '_blank', 'noopener');
    },
  };
}
