// The command field: everything that can be done or gone to, found by typing, with the key that does it without the field.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../address.ts';
import { api } from '../model/api.ts';
import { type Command, matching } from '../model/commands.ts';
import { useLoaded } from '../model/loaded.ts';
import type { ProjectObject, TemplateObject } from '../model/types.ts';
import { Message } from '../panels/message.tsx';
import { shownLab } from '../shown-lab.ts';
import { isUsable, VERBS, wordsOf } from '../verbs.ts';
import { WORDS } from '../words.ts';
import { bar } from './bar.ts';
import { Dialog } from './dialog.tsx';
import { keyText } from './keys-table.tsx';

const words = WORDS.command;
/** Of many found things the first ones are shown: more typing finds the rest. */
const MOST_SHOWN = 50;

/** What can be done now: verbs, then what is in the lab that is shown, then screens. */
function commandsHere(): Command[] {
  const context = shownLab.peek();
  const verbs = VERBS.flatMap((verb): Command[] => {
    if (verb.id === 'page.command') return [];
    const common = { id: verb.id, kind: words.verb, key: verb.keys?.[0] };
    if (verb.scope === 'everywhere')
      return [{ ...common, text: String(verb.words), run: () => verb.run(context ?? { go }) }];
    if (context?.lab.state.peek() !== 'open' || !isUsable(verb, context)) return [];
    return [{ ...common, text: wordsOf(verb, context), run: () => verb.run(context) }];
  });
  const nodes = [...(context?.lab.nodes.values() ?? [])].map((node): Command => {
    const show = (): void => {
      context?.select({ nodes: [node.node_id] });
      context?.map?.show(node.node_id);
      context?.map?.focus();
    };
    return { id: node.node_id, kind: words.node, text: node.name, run: show };
  });
  const screens = bar.value.map(
    ({ path, title }): Command => ({ id: path, kind: words.screen, text: title, run: () => go(path) }),
  );
  return [...verbs, ...nodes, ...screens];
}

/** What the server has: labs, and templates for the lab that is shown. */
async function commandsElsewhere(): Promise<Command[]> {
  const context = shownLab.peek();
  const [labs, templates] = await Promise.all([
    api.get<ProjectObject[]>('/projects'),
    context?.lab.whyNotChange === '' ? api.get<TemplateObject[]>('/templates') : [],
  ]);
  return [
    ...labs
      .filter(({ damaged }) => !damaged)
      .map(({ project_id: id, name }) => ({ id, kind: words.lab, text: name, run: () => go(`/labs/${id}`) })),
    ...templates.map((template) => ({
      id: template.template_id,
      kind: words.template,
      text: template.name,
      run: () => context?.place(template),
    })),
  ];
}

export function CommandField({ close }: { close(): void }) {
  const typed = useSignal('');
  const at = useSignal(0);
  const { value: elsewhere, problem, again } = useLoaded(commandsElsewhere, []);
  const list = useRef<HTMLDivElement>(null);
  const here = useSignal<readonly Command[]>([]);
  const found = useComputed(() =>
    matching([...here.value, ...(elsewhere.value ?? [])], typed.value).slice(0, MOST_SHOWN),
  );
  useEffect(() => {
    here.value = commandsHere();
  }, [here]);
  const chosen = Math.min(at.value, found.value.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    // First: what it does may open a window of its own, or want the focus.
    list.current?.closest('dialog')?.close();
    queueMicrotask(command.run);
  };
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (event.key === 'Enter') run(found.value[chosen]);
    else if (step !== undefined) at.value = Math.max(0, Math.min(found.value.length - 1, chosen + step));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={words.button} close={close} class="command">
      <input
        type="text"
        role="combobox"
        aria-label={words.button}
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={found.value.length > 0 ? `command-${chosen}` : undefined}
        autocomplete="off"
        placeholder={words.hint}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={keys}
      />
      <Message text={problem.value} again={again} />
      {found.value.length === 0 && <p class="empty">{words.none}</p>}
      <div id="commands" role="listbox" aria-label={words.found} ref={list}>
        {found.value.map((command, index) => (
          <button
            type="button"
            tabIndex={-1}
            key={`${command.kind} ${command.id}`}
            id={`command-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => run(command)}
            // The field keeps the focus, and with it all keys.
            onPointerDown={(event) => event.preventDefault()}
          >
            <span>{command.text}</span> <small>{command.kind}</small>
            {command.key && <kbd>{keyText(command.key)}</kbd>}
          </button>
        ))}
      </div>
    </Dialog>
  );
}
