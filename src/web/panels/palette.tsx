// The templates that nodes are made of, found by typing.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../model/api.ts';
import type { TemplateObject } from '../model/types.ts';
import { WORDS } from '../words.ts';

export function Palette({ choose, close }: { choose: (template: TemplateObject) => void; close: () => void }) {
  const templates = useSignal<readonly TemplateObject[]>([]);
  const words = useSignal('');
  const message = useSignal('');
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    api.get<TemplateObject[]>('/templates').then(
      (list) => {
        templates.value = list.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
      },
      (error: Error) => {
        message.value = error.message;
      },
    );
  }, [templates, message]);
  const found = templates.value.filter(({ name }) => name.toLowerCase().includes(words.value.toLowerCase()));
  return (
    <dialog ref={dialog} onClose={close} aria-label={WORDS.lab.addNode}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (found[0]) choose(found[0]);
        }}
      >
        <label>
          {WORDS.palette.template}
          <input
            type="search"
            autocomplete="off"
            onInput={({ currentTarget }) => {
              words.value = currentTarget.value;
            }}
          />
        </label>
        <p class="message" role="alert">
          {message}
        </p>
        <ul class="templates">
          {found.map((template) => (
            <li key={template.template_id}>
              <button type="button" onClick={() => choose(template)}>
                <img src={`/v2/symbols/${encodeURIComponent(template.symbol)}/raw`} alt="" width="28" height="28" />
                {template.name} <small>{template.category}</small>
              </button>
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => dialog.current?.close()}>
          {WORDS.common.cancel}
        </button>
      </form>
    </dialog>
  );
}
