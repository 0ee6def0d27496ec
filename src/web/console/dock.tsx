// The consoles that are open, as tabs. Each lives on while another one is shown.
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Lab } from '../model/lab.ts';
import { WORDS } from '../words.ts';
import type { ConsoleTerminal } from './terminal.ts';

export interface DockEntry {
  /** The node's. */
  id: string;
  name: string;
}

interface DockProps {
  lab: Lab;
  entries: Signal<readonly DockEntry[]>;
  /** The node whose console is shown. */
  shown: Signal<string>;
}

export function Dock({ lab, entries, shown }: DockProps) {
  if (entries.value.length === 0) return null;
  const close = (id: string): void => {
    entries.value = entries.value.filter((entry) => entry.id !== id);
    if (shown.value === id) shown.value = entries.value.at(-1)?.id ?? '';
  };
  return (
    <section class="dock" data-pane aria-label={WORDS.consoles}>
      <div class="tabs">
        {entries.value.map(({ id, name }) => (
          <span key={id} class="tab">
            <button
              type="button"
              aria-pressed={shown.value === id}
              onClick={() => {
                shown.value = id;
              }}
            >
              {lab.nodes.get(id)?.name ?? name}
            </button>
            <button type="button" aria-label={`${WORDS.close} ${name}`} onClick={() => close(id)}>
              ×
            </button>
          </span>
        ))}
      </div>
      {entries.value.map(({ id }) => (
        <Terminal key={id} lab={lab} id={id} isShown={shown.value === id} />
      ))}
    </section>
  );
}

function Terminal({ lab, id, isShown }: { lab: Lab; id: string; isShown: boolean }) {
  const host = useRef<HTMLDivElement>(null);
  const terminal = useRef<ConsoleTerminal | undefined>(undefined);
  useEffect(() => {
    let over = false;
    // Fetched with the first console: a page without one does without it.
    void import('./terminal.ts').then(({ ConsoleTerminal }) => {
      if (over || !host.current) return;
      terminal.current = new ConsoleTerminal(host.current, `${lab.path}/nodes/${id}/console/ws`);
    });
    return () => {
      over = true;
      terminal.current?.stop();
    };
  }, [lab, id]);
  useEffect(() => {
    if (isShown) terminal.current?.show();
  }, [isShown]);
  return <div class="console" ref={host} hidden={!isShown} />;
}
