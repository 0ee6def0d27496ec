// The context menu of the selection: the usual verbs with their keys. A submenu takes the place of the menu, so that it fits a phone, too.
import { useSignal } from '@preact/signals';
import { useCallback, useLayoutEffect } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { keyText } from '../shell/key-text.ts';
import type { LabVerb } from '../verbs/verb.ts';
import { fits, isDangerous, isUsable, VERBS, whyNotUse, wordsOf } from '../verbs.ts';
import { WORDS } from '../words.ts';
import { Menu, type MenuEntry } from './menu.tsx';

type Submenu = NonNullable<LabVerb['menu']>;

/** The verbs of a submenu; or those of the menu itself, with each submenu once, at its first verb. */
function entriesOf(verbs: readonly LabVerb[], open: Submenu | undefined): { verb: LabVerb; opens?: Submenu }[] {
  if (open !== undefined) return verbs.filter(({ menu }) => menu === open).map((verb) => ({ verb }));
  const first = verbs.filter(({ menu }, at) => !menu || verbs.findIndex((each) => each.menu === menu) === at);
  return first.map((verb) => (verb.menu ? { verb, opens: verb.menu } : { verb }));
}

export function ContextMenu({ context }: { context: LabContext }) {
  const { menu, selection } = context;
  const submenu = useSignal<Submenu | undefined>(undefined);
  const at = menu.value;
  const open = submenu.value;
  useLayoutEffect(() => {
    submenu.value = undefined;
  }, [at, submenu]);
  const close = useCallback(
    (isByKey: boolean): void => {
      menu.value = undefined;
      if (isByKey) context.map?.focus();
    },
    [context, menu],
  );
  if (!at) return null;

  const { nodes, link, drawings } = selection.value;
  const isEmpty = nodes.length + drawings.length === 0 && link === undefined;
  const scope = isEmpty ? 'lab' : link !== undefined ? 'link' : nodes.length > 0 ? 'nodes' : 'drawing';
  const verbs = VERBS.filter(
    (verb): verb is LabVerb => verb.scope === scope && fits(verb, context) && whyNotUse(verb, context) === '',
  );
  const entries = entriesOf(verbs, open).map(({ verb, opens }): MenuEntry => {
    const startsGroup = verb.startsGroup && open === undefined;
    if (opens !== undefined) {
      const run = (): void => {
        submenu.value = opens;
      };
      return { id: opens, words: WORDS.menus[opens], isSubmenu: true, startsGroup, run };
    }
    return {
      id: verb.id,
      words: verb.check?.words ?? wordsOf(verb, context),
      keys: verb.keys && keyText(verb.keys[0]!),
      isOn: verb.check?.isOn(context),
      isDangerous: isDangerous(verb),
      isDisabled: !isUsable(verb, context),
      startsGroup,
      run: () => verb.run(context),
    };
  });
  const back = {
    id: open ?? '',
    run: () => {
      submenu.value = undefined;
    },
  };
  return (
    <section class="menu-region" aria-label={WORDS.lab.menu}>
      <Menu
        key={`${at.x} ${at.y}`}
        label={open === undefined ? WORDS.lab.menu : WORDS.menus[open]}
        at={at}
        entries={entries}
        back={open === undefined ? undefined : back}
        note={context.lab.whyNotChange}
        close={close}
      />
    </section>
  );
}
