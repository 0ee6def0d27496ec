// The tabs of the inspector, listed per kind of object.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LabContext } from '../../lab-context.ts';
import { setTo } from '../../model/browser/signal-handlers.ts';
import { WORDS } from '../../words.ts';
import { Button } from '../button.tsx';

export interface TabProps<T> {
  context: LabContext;
  /** The selected node, link or drawing. */
  object: T;
}

export interface Tab<T> {
  id: string;
  title: string;
  component: ComponentType<TabProps<T>>;
  /** Whether this object has the tab; by default always. */
  shown?(object: T): boolean;
}

/** A row of tabs and the chosen one; the first by default. */
interface TabsProps<T> extends TabProps<T> {
  tabs: readonly Tab<T>[];
  /** Id of a tab to change to. */
  open?: string | undefined;
}

export function Tabs<T>({ tabs, context, object, open }: TabsProps<T>) {
  const chosen = useSignal('');
  useEffect(() => {
    if (open !== undefined) chosen.value = open;
  }, [open, chosen]);
  const all = tabs.filter(({ shown }) => shown?.(object) ?? true);
  const tab = all.find(({ id }) => id === chosen.value) ?? all[0];
  if (!tab) return null;
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = all[(all.indexOf(tab) + by + all.length) % all.length]!;
    chosen.value = next.id;
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  if (all.length === 1) return <tab.component context={context} object={object} />;
  return (
    <>
      <div class="tabs" role="tablist" aria-label={WORDS.lab.details} onKeyDown={step}>
        {all.map(({ id, title }) => (
          <Button
            key={id}
            id={`tab-${id}`}
            role="tab"
            aria-selected={id === tab.id}
            tabIndex={id === tab.id ? 0 : -1}
            onClick={setTo(chosen, id)}
            text={title}
          />
        ))}
      </div>
      <div role="tabpanel" aria-labelledby={`tab-${tab.id}`}>
        <tab.component context={context} object={object} />
      </div>
    </>
  );
}
