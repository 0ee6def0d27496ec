// The command field: finds actions and places by typing, and shows their keyboard shortcuts.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../address.ts';
import { type Command, matching } from '../model/lab/commands.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import type { ProjectObject, TemplateObject } from '../model/server/types.ts';
import { Message } from '../panels/message.tsx';
import { MOST_OFFERS, Offers, offerId } from '../panels/offers.tsx';
import { Reading } from '../panels/reading.tsx';
import { isUsable, VERBS, wordsOf } from '../verbs.ts';
import { WORDS } from '../words.ts';
import { bar } from './bar.ts';
import { Dialog } from './dialog.tsx';
import { keyText } from './key-text.ts';
import { type Early, shownLab } from './shown-lab.ts';

const words = WORDS.command;
/** Id of the list. */
const LIST = 'commands';

/** The commands available now: verbs, then objects of the shown lab, then screens. Reads signals, so that it can follow changes. */
function commandsHere(): Command[] {
  const context = shownLab.value;
  context?.lab.changes.value; // nodes change while the field is open
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

/** Commands from the server: labs, and templates for the shown lab. */
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
  /** Key of the chosen command, because the list changes while shown; the first one if empty. */
  const picked = useSignal('');
  /** Enter was pressed before the matching commands were loaded. */
  const isAsked = useSignal(early?.isAsked ?? false);
  const { value: elsewhere, problem, again } = useLoaded(commandsElsewhere, []);
  const field = useRef<HTMLInputElement>(null);
  const here = useComputed(commandsHere);
  const found = useComputed(() =>
    matching([...here.value, ...(elsewhere.value ?? [])], typed.value).slice(0, MOST_OFFERS),
  );
  const chosen = Math.max(
    0,
    found.value.findIndex((command) => keyOf(command) === picked.value),
  );
  const isComplete = elsewhere.value !== undefined || problem.value !== '';
  const run = (command: Command): void => {
    // Close first: the command may open a window or take the focus.
    field.current?.closest('dialog')?.close();
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
        ref={field}
        type="text"
        role="combobox"
        aria-label={words.button}
        aria-expanded="true"
        aria-controls={LIST}
        aria-activedescendant={found.value.length > 0 ? offerId(LIST, chosen) : undefined}
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
      <Offers
        id={LIST}
        label={words.found}
        offers={found.value}
        chosen={chosen}
        keyOf={keyOf}
        show={({ text, kind, key }) => (
          <>
            <span>{text}</span> <small>{kind}</small>
            {key && <kbd>{keyText(key)}</kbd>}
          </>
        )}
        take={run}
      />
    </Dialog>
  );
}
