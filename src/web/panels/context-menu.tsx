// The context menu of the selection: the usual verbs with their keys.
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { keyText } from '../shell/key-text.ts';
import type { LabVerb } from '../verbs/verb.ts';
import { isDangerous, isUsable, VERBS, whyNotUse, wordsOf } from '../verbs.ts';
import { WORDS } from '../words.ts';

export function ContextMenu({ context }: { context: LabContext }) {
  const { menu, selection, map } = context;
  const list = useRef<HTMLDivElement>(null);
  const at = menu.value;
  const { nodes, link, drawings } = selection.value;
  const isEmpty = nodes.length + drawings.length === 0 && link === undefined;

  useLayoutEffect(() => {
    const element = list.current;
    if (!at || !element) return;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(0, Math.min(at.x, innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(0, Math.min(at.y, innerHeight - height - 4))}px`;
    element.querySelector<HTMLElement>('button:not(:disabled)')?.focus();
  }, [at]);

  useEffect(() => {
    if (!at) return;
    const elsewhere = (event: PointerEvent): void => {
      if (!list.current?.contains(event.target as Element)) menu.value = undefined;
    };
    addEventListener('pointerdown', elsewhere);
    return () => removeEventListener('pointerdown', elsewhere);
  }, [at, menu]);

  if (!at) return null;
  const scope = isEmpty ? 'lab' : link !== undefined ? 'link' : nodes.length > 0 ? 'nodes' : 'drawing';
  const verbs = VERBS.filter((verb): verb is LabVerb => verb.scope === scope && whyNotUse(verb, context) === '');
  const why = context.lab.whyNotChange;

  const close = (): void => {
    menu.value = undefined;
    map?.focus();
  };
  const keys = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') close();
    else if (by !== undefined || event.key === 'Home' || event.key === 'End') {
      const items = [...list.current!.querySelectorAll<HTMLElement>('button:not(:disabled)')];
      const now = items.indexOf(document.activeElement as HTMLElement);
      const next = by === undefined ? (event.key === 'Home' ? 0 : -1) : (now + by) % items.length;
      items.at(next)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" role="menu" tabIndex={-1} aria-label={WORDS.lab.menu} ref={list} onKeyDown={keys}>
      {verbs.map((verb) => (
        <Fragment key={verb.id}>
          {verb.startsGroup && <hr />}
          <button
            type="button"
            role="menuitem"
            class={isDangerous(verb) ? 'danger' : undefined}
            tabIndex={-1}
            disabled={!isUsable(verb, context)}
            onClick={() => {
              close();
              verb.run(context);
            }}
          >
            <span>{wordsOf(verb, context)}</span> {verb.keys && <kbd>{keyText(verb.keys[0]!)}</kbd>}
          </button>
        </Fragment>
      ))}
      {why !== '' && (
        <button type="button" role="menuitem" tabIndex={-1} disabled>
          <small>{why}</small>
        </button>
      )}
    </div>
  );
}
