// A search field that filters a list.
import type { Signal } from '@preact/signals';
import { storeIn } from '../model/browser/signal-handlers.ts';
import { WORDS } from '../words.ts';

interface SearchFieldProps {
  typed: Signal<string>;
  onKeyDown?(event: KeyboardEvent): void;
}

export function SearchField({ typed, onKeyDown }: SearchFieldProps) {
  return (
    <label class="search">
      <span class="hidden">{WORDS.common.search}</span>
      <input
        type="search"
        placeholder={WORDS.common.search}
        autocomplete="off"
        onKeyDown={onKeyDown}
        onInput={storeIn(typed)}
      />
    </label>
  );
}
