// Verbs for the selected nodes.
import { hasConsole, webAddress } from '../console/web-address.ts';
import type { LabContext } from '../lab-context.ts';
import { alwaysRuns, canSuspend, startupFileOf } from '../model/lab/abilities.ts';
import { groupAround } from '../model/lab/groups.ts';
import { isUnplaced, serverTop } from '../model/lab/label-place.ts';
import { api } from '../model/server/api.ts';
import type { LinkObject, NodeObject } from '../model/server/types.ts';
import { WORDS } from '../words.ts';
import { giveAddresses, takesAddress } from './addresses.ts';
import { inScope, type LabVerb } from './verb.ts';

const words = WORDS.nodes;
function post(action: string): LabVerb['run'] {
  return (context) => {
    const { lab, attempt } = context;
    for (const { node_id } of context.selectedNodes())
      void attempt(() => api.post(`${lab.path}/nodes/${node_id}/${action}`));
  };
}

function some(...statuses: readonly string[]): (context: LabContext) => boolean {
  return (context) => context.selectedNodes().some(({ status }) => statuses.includes(status));
}

function can(ability: (node: NodeObject) => boolean): (context: LabContext) => boolean {
  return (context) => context.selectedNodes().some(ability);
}

const starts = can((node) => !alwaysRuns(node));

export const NODE_VERBS = inScope('nodes', [
  {
    id: 'node.start',
    words: words.start,
    keys: ['s'],
    suits: starts,
    enabled: some('stopped', 'suspended'),
    run: post('start'),
  },
  {
    id: 'node.stop',
    words: words.stop,
    keys: ['x'],
    suits: starts,
    enabled: some('started', 'suspended'),
    run: post('stop'),
  },
  {
    id: 'node.reload',
    words: words.reload,
    keys: ['r'],
    suits: starts,
    enabled: some('started'),
    run: post('reload'),
  },
  {
    id: 'node.suspend',
    words: words.suspend,
    suits: can(canSuspend),
    enabled: some('started'),
    run: post('suspend'),
  },
  {
    id: 'node.isolate',
    words: (context) => (isIsolated(context) ? words.unisolate : words.isolate),
    check: { words: words.isolate, isOn: isIsolated },
    enabled: (context) => linksOfSelection(context).length > 0,
    run: (context) => void context.attempt(() => isolate(context)),
  },
  {
    id: 'node.console',
    startsGroup: true,
    words: words.console,
    keys: ['c', 'Enter'],
    isReading: () => true,
    suits: can(hasConsole),
    run: (context) => {
      for (const node of context.selectedNodes()) if (hasConsole(node)) openConsole(context, node.node_id);
    },
  },
  {
    id: 'node.rename',
    startsGroup: true,
    words: words.rename,
    keys: ['F2'],
    enabled: ({ selection: { value } }) => value.nodes.length === 1,
    run: ({ renaming, selection, map }) => {
      const [id] = selection.value.nodes;
      if (id !== undefined) map?.show(id);
      renaming.value = id;
    },
  },
  {
    id: 'node.duplicate',
    words: words.duplicate,
    keys: ['d'],
    run: (context) => void context.attempt(() => duplicate(context)),
  },
  {
    id: 'node.addresses',
    words: words.addresses,
    keys: ['a'],
    suits: can((node) => startupFileOf(node) !== undefined),
    enabled: can(takesAddress),
    run: (context) => void context.attempt(() => giveAddresses(context)),
  },
  {
    id: 'node.arrange',
    menu: 'place',
    words: WORDS.arrange.title,
    suits: ({ selection }) => selection.value.nodes.length > 1,
    enabled: (context) => context.selectedNodes().filter(({ locked }) => !locked).length > 1,
    run: ({ arranging, selection }) => {
      arranging.value = selection.value.nodes;
    },
  },
  {
    id: 'node.group',
    menu: 'place',
    words: words.group,
    run: (context) => {
      const { shape, ...at } = groupAround(context.selectedNodes());
      context.draw(shape, at);
    },
  },
  {
    id: 'node.label',
    menu: 'place',
    words: words.centreLabel,
    enabled: (context) => context.selectedNodes().some(({ label, height }) => !isUnplaced(label, height)),
    run: (context) => {
      const updates = context.selectedNodes().map(({ node_id: id, label, height }) => {
        const centred = { ...label, x: null, y: serverTop(height) };
        return { kind: 'node' as const, id, fields: { label: centred } };
      });
      void context.attempt(() => context.history.update(updates));
    },
  },
]);

function linksOfSelection({ lab, selection }: LabContext): LinkObject[] {
  lab.changes.value; // links are suspended and resumed meanwhile
  return [...new Set(selection.value.nodes.flatMap((id) => lab.linksOf(id)))];
}

/** Whether all links of the selected nodes are suspended. */
function isIsolated(context: LabContext): boolean {
  const links = linksOfSelection(context);
  return links.length > 0 && links.every(({ suspend }) => suspend);
}

/** Isolates the selected nodes, or ends the isolation of all. */
function isolate(context: LabContext): Promise<void> {
  const fields = { suspend: !isIsolated(context) };
  const updates = linksOfSelection(context)
    .filter(({ suspend }) => suspend !== fields.suspend)
    .map(({ link_id: id }) => ({ kind: 'link' as const, id, fields }));
  const action = fields.suspend ? 'isolate' : 'unisolate';
  return context.history.updateBy(
    context.selection.value.nodes.map((id) => `nodes/${id}/${action}`),
    updates,
  );
}

/** Copies the selection to a free place nearby and selects the copies. */
async function duplicate(context: LabContext): Promise<void> {
  const { history, map } = context;
  const [nodes, drawings] = [context.selectedNodes(), context.selectedDrawings()];
  const { x: dx, y: dy } = context.wayBeside(nodes, drawings);
  const made = await history.copy(
    nodes.map(({ node_id: source, x, y, z }) => ({ source, body: { x: x + dx, y: y + dy, z } })),
    drawings.map(({ x, y, z, rotation, svg }) => ({ x: x + dx, y: y + dy, z, rotation, svg })),
  );
  context.select(made);
  if (made.nodes.length === 1) map?.show(made.nodes[0]!);
}

/** Opens the console of a node, or says why the page cannot. */
export function openConsole({ lab, dock }: LabContext, nodeId: string): void {
  const node = lab.nodes.get(nodeId);
  if (!node) return;
  const web = webAddress(node);
  const kind = { telnet: 'console', vnc: 'vnc' } as const;
  const type = node.console_type ?? 'none';
  if (type === 'telnet' || type === 'vnc') dock.open({ kind: kind[type], id: nodeId, title: node.name, nodeId });
  else if (web !== undefined) open(web, '_blank', 'noopener,noreferrer');
  else lab.message.value = words.noConsole(node.name, type);
}
