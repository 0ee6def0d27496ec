// A form with a symbol: its picture opens the chooser.
import { useSignal } from '@preact/signals';
import { FormView, type FormViewProps } from '../forms/form-view.tsx';
import { setTo } from '../model/browser/signal-handlers.ts';
import { WORDS } from '../words.ts';
import { SymbolChooser } from './symbol-chooser.tsx';
import { SymbolPicture } from './symbol-picture.tsx';

/** The symbol is the field of that name, if there is one. */
export function SymbolForm(props: Omit<FormViewProps, 'children' | 'special'>) {
  const { form } = props;
  const choosing = useSignal(false);
  const symbol = form.fields.find(({ name }) => name === 'symbol');
  return (
    <>
      <FormView
        {...props}
        special={(field) =>
          field === symbol && (
            <button key="symbol" type="button" class="symbol" onClick={setTo(choosing, true)}>
              <SymbolPicture id={String(form.shown(symbol))} />
              {WORDS.node.chooseSymbol}
            </button>
          )
        }
      />
      {/* Outside the form, because Enter in its search field must not save. */}
      {choosing.value && symbol && (
        <SymbolChooser choose={(id) => form.type(symbol, id)} close={setTo(choosing, false)} />
      )}
    </>
  );
}
