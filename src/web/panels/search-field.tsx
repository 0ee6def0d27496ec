// A search field that filters a list.
import type { Signal } from '@preact/signals';
import { WORDS } from '../words.ts';

export function SearchField({ typed }: { typed: Signal<string> }) {
  return (
    <label>
      {WORDS.common.search}{' '}
      <input
        type="search"
        autocomplete="off"
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
      />
    </label>
  );
}
