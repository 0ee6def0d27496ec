// The context menu of the selection: the usual verbs with their keys. A submenu takes the place of the menu, so that it fits a phone, too.
import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { keyText } from '../shell/key-text.ts';
import type { LabVerb } from '../verbs/verb.ts';
import { fits, isDangerous, isUsable, VERBS, whyNotUse, wordsOf } from '../verbs.ts';
import { WORDS } from '../words.ts';

type Submenu = NonNullable<LabVerb['menu']>;

/** The verbs of a submenu; or those of the menu itself, with each submenu once, at its first verb. */
function entriesOf(verbs: readonly LabVerb[], open: Submenu | undefined): { verb: LabVerb; opens?: Submenu }[] {
  if (open !== undefined) return verbs.filter(({ menu }) => menu === open).map((verb) => ({ verb }));
  const first = verbs.filter(({ menu }, at) => !menu || verbs.findIndex((each) => each.menu === menu) === at);
  return first.map((verb) => (verb.menu ? { verb, opens: verb.menu } : { verb }));
}

export function ContextMenu({ context }: { context: LabContext }) {
  const { menu, selection, map } = context;
  const came = useRef<Submenu | undefined>(undefined);
  const list = useRef<HTMLDivElement>(null);
  const submenu = useSignal<Submenu | undefined>(undefined);
  const at = menu.value;
  const open = submenu.value;
  const { nodes, link, drawings } = selection.value;
  const isEmpty = nodes.length + drawings.length === 0 && link === undefined;

  useLayoutEffect(() => {
    const element = list.current;
    if (!at || !element) return;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(0, Math.min(at.x, innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(0, Math.min(at.y, innerHeight - height - 4))}px`;
    const left = open === undefined && came.current !== undefined ? `[data-menu="${came.current}"]` : undefined;
    came.current = open;
    element.querySelector<HTMLElement>(left ?? 'button:not(:disabled):not(.back)')?.focus();
  }, [at, open]);
  useLayoutEffect(() => {
    submenu.value = undefined;
    came.current = undefined;
  }, [at, submenu]);

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
  const verbs = VERBS.filter(
    (verb): verb is LabVerb => verb.scope === scope && fits(verb, context) && whyNotUse(verb, context) === '',
  );
  const why = context.lab.whyNotChange;
  const entries = entriesOf(verbs, open);

  const close = (): void => {
    menu.value = undefined;
    map?.focus();
  };
  const keys = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const focused = document.activeElement as HTMLElement;
    if (open !== undefined && (event.key === 'Escape' || event.key === 'ArrowLeft')) submenu.value = undefined;
    else if (event.key === 'ArrowRight' && focused.dataset.menu) submenu.value = focused.dataset.menu as Submenu;
    else if (event.key === 'Escape' || event.key === 'Tab') close();
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
    <section class="menu-region" aria-label={WORDS.lab.menu}>
      <div
        class="menu"
        role="menu"
        tabIndex={-1}
        aria-label={open === undefined ? WORDS.lab.menu : WORDS.menus[open]}
        ref={list}
        onKeyDown={keys}
      >
        {open !== undefined && (
          <button
            type="button"
            role="menuitem"
            class="back"
            tabIndex={-1}
            onClick={() => {
              submenu.value = undefined;
            }}
          >
            <span>‹ {WORDS.menus[open]}</span>
          </button>
        )}
        {entries.map(({ verb, opens }, index) => (
          <Fragment key={opens ?? verb.id}>
            {verb.startsGroup && open === undefined && index > 0 && <hr />}
            {opens !== undefined ? (
              <button
                type="button"
                role="menuitem"
                aria-haspopup="menu"
                data-menu={opens}
                tabIndex={-1}
                onClick={() => {
                  submenu.value = opens;
                }}
              >
                <span>{WORDS.menus[opens]}</span> <span aria-hidden="true">›</span>
              </button>
            ) : (
              <button
                type="button"
                {...(verb.check
                  ? { role: 'menuitemcheckbox', 'aria-checked': verb.check.isOn(context) }
                  : { role: 'menuitem' })}
                class={isDangerous(verb) ? 'danger' : undefined}
                tabIndex={-1}
                disabled={!isUsable(verb, context)}
                onClick={() => {
                  close();
                  verb.run(context);
                }}
              >
                <span>{verb.check?.words ?? wordsOf(verb, context)}</span>{' '}
                {verb.keys && <kbd>{keyText(verb.keys[0]!)}</kbd>}
              </button>
            )}
          </Fragment>
        ))}
        {why !== '' && (
          <button type="button" role="menuitem" tabIndex={-1} disabled>
            <small>{why}</small>
          </button>
        )}
      </div>
    </section>
  );
}
