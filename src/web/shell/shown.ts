// What of the overlays is shown.
import { signal } from '@preact/signals';

export const isCommandShown = signal(false);
export const isKeysShown = signal(false);
