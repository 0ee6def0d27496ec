// A chooser for node symbols.
import { useSignal } from '@preact/signals';
import type { SymbolEntry } from '../../api/routes/symbols.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { Dialog } from '../shell/dialog.tsx';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';
import { Message } from './message.tsx';
import { SearchField } from './search-field.tsx';
import { SymbolPicture } from './symbol-picture.tsx';

export function SymbolChooser({ choose, close }: { choose: (id: string) => void; close: () => void }) {
  const typed = useSignal('');
  const { value, problem, again } = useLoaded(() => api.get<SymbolEntry[]>('/symbols'), []);
  const found = (value.value ?? []).filter(({ symbol_id: id, theme }) =>
    `${id} ${theme}`.toLowerCase().includes(typed.value.toLowerCase()),
  );
  return (
    <Dialog title={WORDS.node.chooseSymbol} class="symbols" close={close}>
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
                close();
              }}
            >
              <SymbolPicture id={id} alt={`${filename}, ${theme}`} size={48} isLazy />
            </button>
          </li>
        ))}
      </ul>
      <Button onClick={close} text={WORDS.common.cancel} />
    </Dialog>
  );
}
