// A form: grouped fields, and a bar with Save and Discard.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';
import { FieldView } from './field-view.tsx';
import type { FormModel, Values } from './model.ts';
import type { Field } from './schema.ts';

const words = WORDS.forms;

export interface FormViewProps {
  form: FormModel;
  save: (changes: Record<string, unknown>) => Promise<Values | undefined>;
  /** Label of the save button; the number of changes is added unless everything is sent. */
  saveWords?: string;
  offers?: (field: Field) => readonly string[];
  /** When a change of the field takes effect. */
  note?: (field: Field) => string;
  /** Groups begin folded; otherwise the first ones are open. */
  isFolded?: boolean;
  /** Draws a field in a way of its own; undefined for all others. */
  special?: (field: Field) => ComponentChildren;
  /** Shown before the fields. */
  children?: ComponentChildren;
  saved?: () => void;
}

export interface FormFrameProps extends Pick<FormViewProps, 'form' | 'save' | 'saveWords' | 'saved'> {
  children: ComponentChildren;
  /** Called before the fields are read. */
  before?: () => void;
}

/** The form and its bar around any fields. */
export function FormFrame({ form, save, saveWords, saved, before, children }: FormFrameProps) {
  const element = useRef<HTMLFormElement>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    before?.();
    if (await form.save(save)) saved?.();
    else focusProblem(element.current);
  };
  return (
    <form ref={element} class="settings" noValidate onSubmit={(event) => void submit(event)}>
      {children}
      <FormBar form={form} {...(saveWords !== undefined && { saveWords })} />
    </form>
  );
}

export function FormView(props: FormViewProps) {
  const { form, save, saveWords, offers, note, isFolded = false, special, children, saved } = props;
  const groups = Map.groupBy(form.fields, ({ group }) => group);
  const view = (field: Field) =>
    special?.(field) || (
      <FieldView
        key={field.name}
        form={form}
        field={field}
        {...(offers && { offers: offers(field) })}
        {...(note && { note: note(field) })}
      />
    );
  return (
    <FormFrame form={form} save={save} {...(saved && { saved })} {...(saveWords !== undefined && { saveWords })}>
      {children}
      {[...groups].map(([group, fields], index) =>
        group === '' || groups.size === 1 ? (
          fields.map(view)
        ) : (
          <details key={group} open={(!isFolded && index < 2) || fields.some((field) => hasProblem(form, field))}>
            <summary>{group}</summary>
            {fields.map(view)}
          </details>
        ),
      )}
    </FormFrame>
  );
}

/** The save bar, with the reason if saving failed. */
function FormBar({ form, saveWords }: { form: FormModel; saveWords?: string }) {
  const count = form.changed.value;
  const isIdle = saveWords === undefined && count === 0;
  return (
    <div class="bar">
      <Message text={form.message.value} />
      {!isIdle && saveWords === undefined && <span>{words.changes(count)}</span>}{' '}
      <Button type="submit" class="main" disabled={isIdle || form.isBusy.value} text={saveWords ?? words.save} />{' '}
      <Button disabled={count === 0 || form.isBusy.value} onClick={() => form.discard()} text={words.discard} />
    </div>
  );
}

function hasProblem(form: FormModel, { name }: Field): boolean {
  return Object.keys(form.problems.value).some((path) => path === name || path.startsWith(`${name}.`));
}

/** Focuses the first invalid field once the errors are rendered. */
function focusProblem(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}
