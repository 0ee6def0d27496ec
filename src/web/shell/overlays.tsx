// Overlays of every screen: the command field and the table of keys, loaded on first use.
import { type Signal, signal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { go } from '../address.ts';
import { loadPart } from '../model/server/lazy-load.ts';
import { shownDialog } from '../tasks/dialogs.tsx';
import { PAGE_VERBS } from '../verbs/page.ts';
import { WORDS } from '../words.ts';
import { Dialog } from './dialog.tsx';
import { keyName } from './key-text.ts';
import { type Early, isCommandShown, isKeysShown, shownLab } from './shown-lab.ts';

interface OverlayProps {
  /** Text typed before the component was loaded. */
  early?: Early;
  close(): void;
}

const CommandField = lazy(
  isCommandShown,
  async () => (await import('./command-field.tsx')).CommandField,
  WORDS.command.button,
);
const KeysTable = lazy(isKeysShown, async () => (await import('./keys-table.tsx')).KeysTable);

/** Loads a component when `shown` first becomes true, and renders it while it is. For a `field`, input typed meanwhile is kept. */
function lazy(
  shown: Signal<boolean>,
  load: () => Promise<ComponentType<OverlayProps>>,
  field?: string,
): () => VNode | null {
  const component = signal<{ Loaded: ComponentType<OverlayProps> } | undefined>(undefined);
  let early: Early = { text: '', isAsked: false };
  const close = (): void => {
    shown.value = false;
  };
  return () => {
    const isShown = shown.value;
    useEffect(() => {
      if (!isShown) early = { text: '', isAsked: false };
      if (!isShown || component.value) return;
      void loadPart(load).then((Loaded) => {
        component.value = { Loaded };
      });
    }, [isShown]);
    if (!isShown) return null;
    if (component.value) return <component.value.Loaded close={close} early={early} />;
    if (field === undefined) return null;
    return (
      <Dialog title={field} close={close} class="command">
        <input
          type="text"
          aria-label={field}
          onInput={({ currentTarget: { value: text } }) => {
            early = { text, isAsked: false };
          }}
          onKeyDown={({ key }) => {
            if (key === 'Enter') early.isAsked = true;
          }}
        />
      </Dialog>
    );
  };
}

/** Handles keys of the page's verbs. Plain characters are ignored in input fields. */
function keys(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const name = keyName(event);
  const isTyping = (event.target as Element).closest?.('input, textarea, select, [contenteditable], .xterm');
  if (isTyping && name.length === 1) return;
  const verb = PAGE_VERBS.find(({ keys: own }) => own?.includes(name));
  if (!verb) return;
  event.preventDefault();
  verb.run(shownLab.value ?? { go });
}

export function Overlays() {
  useEffect(() => {
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);
  return (
    <>
      <CommandField />
      <KeysTable />
      {shownDialog.value}
    </>
  );
}
