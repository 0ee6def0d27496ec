// A console that has a window to itself.
import { WORDS } from '../words.ts';
import type { DockAction } from './entries.ts';

export function ownWindow(labId: string, nodeId: string): DockAction {
  return {
    id: 'window',
    words: WORDS.console.ownWindow,
    run: () => {
      window.open(`/labs/${labId}/nodes/${nodeId}/console`, '_blank', 'noopener');
    },
  };
}
