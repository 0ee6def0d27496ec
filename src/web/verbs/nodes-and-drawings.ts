// Verbs for selected nodes and drawings alike: move, layers, lock, delete.
import type { LabContext } from '../lab-context.ts';
import { alwaysRuns } from '../model/lab/abilities.ts';
import { namesInSentence } from '../model/lab/names-in-sentence.ts';
import type { Update } from '../model/lab/undo.ts';
import { confirmRemoval } from '../tasks/dialogs.tsx';
import { WORDS } from '../words.ts';
import { inScope, type LabVerb, type Unscoped } from './verb.ts';

const words = WORDS.lab;

interface Thing {
  kind: 'node' | 'drawing';
  id: string;
  z: number;
  locked: boolean;
}

function things(context: LabContext): Thing[] {
  const nodes = context.selectedNodes().map(({ node_id: id, z, locked }) => ({ kind: 'node' as const, id, z, locked }));
  const drawings = context
    .selectedDrawings()
    .map(({ drawing_id: id, z, locked }) => ({ kind: 'drawing' as const, id, z, locked }));
  return [...nodes, ...drawings];
}

function change(context: LabContext, fields: (thing: Thing) => Update['fields']): void {
  const updates = things(context).map((thing) => ({ kind: thing.kind, id: thing.id, fields: fields(thing) }));
  void context.attempt(() => context.history.update(updates));
}

const namesOf = (nodes: readonly { name: string }[]): string => namesInSentence(nodes.map(({ name }) => name));

/** Shows the names of nodes that were deleted for good, if there are any. */
export function noticeGone({ lab }: LabContext, gone: readonly string[]): boolean {
  if (gone.length > 0) lab.notice.value = WORDS.nodes.removedForGood(namesInSentence(gone));
  return gone.length > 0;
}

/** Deletes selected nodes and drawings. Asks first if nodes run: Undo brings back their disks, but not what is in memory. */
async function remove(context: LabContext): Promise<void> {
  const { lab, history } = context;
  const nodes = context.selectedNodes();
  const drawings = context.selectedDrawings();
  const locked = nodes.filter((node) => node.locked);
  if (locked.length + drawings.filter((drawing) => drawing.locked).length > 0) {
    lab.message.value = WORDS.nodes.lockedOnes(locked.map(({ name }) => name).join(', ') || WORDS.drawings.title);
    return;
  }
  const { askRemove, countOf, removed } = WORDS.nodes;
  const running = nodes.filter((node) => node.status !== 'stopped' && !alwaysRuns(node));
  const what = nodes.length === 1 ? nodes[0]!.name : countOf(nodes.length);
  if (running.length > 0 && !(await confirmRemoval(what, askRemove(namesOf(running))))) return;
  const things = [
    ...drawings.map(({ drawing_id: id }) => ({ kind: 'drawing' as const, id })),
    ...nodes.map(({ node_id: id }) => ({ kind: 'node' as const, id })),
  ];
  void context.remove(async () => {
    const gone = await history.remove(things);
    if (!noticeGone(context, gone) && nodes.length > 0) lab.notice.value = removed(namesOf(nodes));
  });
}

function both(verb: Unscoped): LabVerb[] {
  const [, name] = verb.id.split('.');
  return [
    { ...verb, scope: 'nodes', ...(name !== 'delete' && { menu: 'place' as const }) },
    { ...verb, id: `drawing.${name}`, scope: 'drawing' },
  ];
}

export const THING_VERBS: readonly LabVerb[] = [
  ...both({
    id: 'node.move',
    startsGroup: true,
    words: words.move,
    keys: ['m'],
    enabled: (context) => things(context).some(({ locked }) => !locked),
    run: ({ moving, map }) => {
      moving.value = true;
      map?.focus();
    },
  }),
  ...both({ id: 'node.raise', words: words.raise, run: (context) => change(context, ({ z }) => ({ z: z + 1 })) }),
  ...both({ id: 'node.lower', words: words.lower, run: (context) => change(context, ({ z }) => ({ z: z - 1 })) }),
  ...both({
    id: 'node.lock',
    words: (context) => (things(context).every(({ locked }) => locked) ? words.unlock : words.lock),
    run: (context) => {
      const locked = !things(context).every((thing) => thing.locked);
      change(context, () => ({ locked }));
    },
  }),
  ...both({
    id: 'node.delete',
    startsGroup: true,
    words: WORDS.common.remove,
    keys: ['Delete', 'Backspace'],
    run: remove,
  }),
];

export const DRAWING_VERBS = inScope('drawing', [
  {
    id: 'drawing.edit',
    words: WORDS.drawings.edit,
    keys: ['Enter', 'e', 'F2'],
    isLocal: true,
    enabled: ({ lab, selection: { value } }) =>
      lab.whyNotChange === '' && value.drawings.length === 1 && value.nodes.length === 0,
    run: (context) => {
      context.editing.value = context.selection.value.drawings[0];
    },
  },
  {
    id: 'drawing.duplicate',
    words: WORDS.common.duplicate,
    keys: ['d'],
    enabled: ({ selection: { value } }) => value.nodes.length === 0,
    run: (context) => {
      const { attempt, history } = context;
      void attempt(async () => {
        const made: string[] = [];
        for (const { x, y, z, rotation, svg } of context.selectedDrawings()) {
          const body = { x: x + 25, y: y + 25, z, rotation, svg };
          made.push((await history.make<{ drawing_id: string }>('drawing', body)).drawing_id);
        }
        context.select({ drawings: made });
      });
    },
  },
]);
