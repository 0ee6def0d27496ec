// Verbs for selected nodes and drawings alike: move, layers, lock, delete.

import type { LabContext } from '../lab-context.ts';
import type { Update } from '../model/lab/undo.ts';
import { api } from '../model/server/api.ts';
import { confirmRemoval } from '../tasks/dialogs.tsx';
import { WORDS } from '../words.ts';
import type { LabVerb } from './verb.ts';

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

/** Deletes selected nodes and drawings. Asks first for nodes, because their disks are deleted for good. */
async function remove(context: LabContext): Promise<void> {
  const { lab, history } = context;
  const nodes = context.selectedNodes();
  const drawings = context.selectedDrawings();
  const locked = nodes.filter((node) => node.locked);
  if (locked.length + drawings.filter((drawing) => drawing.locked).length > 0) {
    lab.message.value = WORDS.nodes.lockedOnes(locked.map(({ name }) => name).join(', ') || WORDS.drawings.title);
    return;
  }
  const names =
    nodes.length > 12
      ? `${nodes
          .slice(0, 12)
          .map(({ name }) => name)
          .join(', ')} …`
      : nodes.map(({ name }) => name).join(', ');
  if (nodes.length > 0) {
    const { askRemove, countOf } = WORDS.nodes;
    if (!(await confirmRemoval(countOf(nodes.length), askRemove(names)))) return;
  }
  const drawn = drawings.map(({ drawing_id: id }) => ({ kind: 'drawing' as const, id }));
  void context.remove(() =>
    Promise.all([
      ...(drawn.length > 0 ? [history.remove(drawn)] : []),
      ...nodes.map(({ node_id }) => api.delete(`${lab.path}/nodes/${node_id}`)),
    ]),
  );
}

function both(verb: Omit<LabVerb, 'scope'>): LabVerb[] {
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

export const DRAWING_VERBS: readonly LabVerb[] = [
  {
    id: 'drawing.edit',
    words: WORDS.drawings.edit,
    keys: ['Enter', 'e', 'F2'],
    scope: 'drawing',
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
    scope: 'drawing',
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
];
