// What of the overlays is shown.
import { signal } from '@preact/signals';

export const isCommandShown = signal(false);
export const isKeysShown = signal(false);

/** What was typed into the command field before it was loaded. */
export interface Early {
  text: string;
  /** Enter was pressed after it. */
  isAsked: boolean;
}
