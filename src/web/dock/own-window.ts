// What has a window to itself, too, at an address of its own.
import { WORDS } from '../words.ts';
import type { DockAction } from './entries.ts';

/** `path` is that of the screen, within the lab. */
export function ownWindow(labId: string, path: string): DockAction {
  return {
    id: 'window',
    words: WORDS.console.ownWindow,
    run: () => {
      window.open(`/labs/${labId}/${path}`, '_blank', 'noopener');
    },
  };
}
