// Verbs of every screen.
import { isCommandShown, isKeysShown } from '../shell/shown-lab.ts';
import { WORDS } from '../words.ts';
import type { PageVerb } from './verb.ts';

export const PAGE_VERBS: readonly PageVerb[] = [
  {
    id: 'page.command',
    words: WORDS.command.button,
    keys: ['Ctrl+k'],
    scope: 'everywhere',
    run: () => {
      isCommandShown.value = true;
    },
  },
  {
    id: 'page.keys',
    words: WORDS.keys.title,
    keys: ['?'],
    scope: 'everywhere',
    run: () => {
      isKeysShown.value = true;
    },
  },
];
