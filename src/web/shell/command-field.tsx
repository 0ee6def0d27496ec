// The command field: everything that can be done or gone to, found by typing, with the key that does it without the field.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../address.ts';
import { type Command, matching } from '../model/lab/commands.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import type { ProjectObject, TemplateObject } from '../model/server/types.ts';
import { Message } from '../panels/message.tsx';
import { Reading } from '../panels/reading.tsx';
import { shownLab } from '../shown-lab.ts';
import { isUsable, VERBS, wordsOf } from '../verbs.ts';
import { WORDS } from '../words.ts';
import { bar } from './bar.ts';
import { Dialog } from './dialog.tsx';
import { keyText } from './key-text.ts';
import type { Early } from './shown.ts';

const words = WORDS.command;
/** Of many found things the first ones are shown: more typing finds the rest. */
const MOST_SHOWN = 50;

/** What can be done now: verbs, then what is in the lab that is shown, then screens. It reads signals, so that it can follow them. */
function commandsHere(): Command[] {
  const context = shownLab.value;
  context?.lab.changes.value; // nodes come, go, start and stop while the field is open
  const verbs = VERBS.flatMap((verb): Command[] => {
    if (verb.id === 'page.command') return [];
    const common = { id: verb.id, kind: words.verb, key: verb.keys?.[0] };
    if (verb.scope === 'everywhere')
      return [{ ...common, text: String(verb.words), run: () => verb.run(context ?? { go }) }];
    if (context?.lab.state.value !== 'open' || !isUsable(verb, context)) return [];
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

const keyOf = ({ kind, id }: Command): string => `${kind} ${id}`;

interface CommandFieldProps {
  early?: Early;
  close(): void;
}

export function CommandField({ early, close }: CommandFieldProps) {
  const typed = useSignal(early?.text ?? '');
  /** By its key, as the list changes while it is shown; without one the first of the list. */
  const picked = useSignal('');
  /** Enter was pressed before the list had what was typed. */
  const isAsked = useSignal(early?.isAsked ?? false);
  const { value: elsewhere, problem, again } = useLoaded(commandsElsewhere, []);
  const list = useRef<HTMLDivElement>(null);
  const here = useComputed(commandsHere);
  const found = useComputed(() =>
    matching([...here.value, ...(elsewhere.value ?? [])], typed.value).slice(0, MOST_SHOWN),
  );
  const chosen = Math.max(
    0,
    found.value.findIndex((command) => keyOf(command) === picked.value),
  );
  const isComplete = elsewhere.value !== undefined || problem.value !== '';
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const run = (command: Command): void => {
    // First, and at once: what the command does may open a window of its own, or want the focus.
    list.current?.closest('dialog')?.close();
    close();
    command.run();
  };
  const enter = (): void => {
    const command = found.value[chosen];
    if (command) run(command);
    else isAsked.value = !isComplete;
  };
  useEffect(() => {
    if (!isAsked.value) return;
    isAsked.value = false;
    enter();
  }, [found.value, isComplete]);
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (event.key === 'Enter') enter();
    else if (step !== undefined) {
      const next = found.value[Math.max(0, Math.min(found.value.length - 1, chosen + step))];
      picked.value = next ? keyOf(next) : '';
    } else return;
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
        defaultValue={early?.text ?? ''}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          picked.value = '';
          isAsked.value = false;
        }}
        onKeyDown={keys}
      />
      <Message text={problem.value} again={again} />
      {found.value.length === 0 && (isComplete ? <p class="empty">{words.none}</p> : <Reading />)}
      <div id="commands" role="listbox" aria-label={words.found} ref={list}>
        {found.value.map((command, index) => (
          <button
            type="button"
            tabIndex={-1}
            key={keyOf(command)}
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
