// The symbols that nodes are drawn with, to choose from.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../model/api.ts';
import { useLoaded } from '../model/loaded.ts';
import { WORDS } from '../words.ts';
import { Message } from './message.tsx';
import { SearchField } from './search-field.tsx';

interface SymbolObject {
  symbol_id: string;
  filename: string;
  theme: string;
}

export function SymbolChooser({ choose, close }: { choose: (id: string) => void; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const typed = useSignal('');
  const { value, problem, again } = useLoaded(() => api.get<SymbolObject[]>('/symbols'), []);
  useEffect(() => dialog.current?.showModal(), []);
  const found = (value.value ?? []).filter(({ symbol_id: id, theme }) =>
    `${id} ${theme}`.toLowerCase().includes(typed.value.toLowerCase()),
  );
  return (
    <dialog ref={dialog} class="symbols" onClose={close} aria-label={WORDS.node.chooseSymbol}>
      <SearchField typed={typed} />
      <Message text={problem.value} again={again} />
      <ul class="symbols">
        {found.map(({ symbol_id: id, filename, theme }) => (
          <li key={id}>
            <button
              type="button"
              title={`${filename}, ${theme}`}
              onClick={() => {
                choose(id);
                dialog.current?.close();
              }}
            >
              <img src={`/v2/symbols/${encodeURIComponent(id)}/raw`} alt={`${filename}, ${theme}`} loading="lazy" />
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => dialog.current?.close()}>
        {WORDS.common.cancel}
      </button>
    </dialog>
  );
}
