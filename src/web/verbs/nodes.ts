// Verbs of the nodes that are selected.
import { webAddress } from '../console/web-address.ts';
import type { LabContext } from '../lab-context.ts';
import { api } from '../model/api.ts';
import { type Box, freePlace } from '../model/geometry.ts';
import type { NodeObject } from '../model/types.ts';
import { WORDS } from '../words.ts';
import type { LabVerb } from './verb.ts';

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

export const NODE_VERBS: readonly LabVerb[] = [
  {
    id: 'node.start',
    words: words.start,
    keys: ['s'],
    scope: 'nodes',
    enabled: some('stopped', 'suspended'),
    run: post('start'),
  },
  {
    id: 'node.stop',
    words: words.stop,
    keys: ['x'],
    scope: 'nodes',
    enabled: some('started', 'suspended'),
    run: post('stop'),
  },
  {
    id: 'node.reload',
    words: words.reload,
    keys: ['r'],
    scope: 'nodes',
    enabled: some('started'),
    run: post('reload'),
  },
  { id: 'node.suspend', words: words.suspend, scope: 'nodes', enabled: some('started'), run: post('suspend') },
  {
    id: 'node.console',
    words: words.console,
    keys: ['c', 'Enter'],
    scope: 'nodes',
    enabled: (context) => context.selectedNodes().some(({ console }) => console !== null),
    run: (context) => {
      for (const { node_id } of context.selectedNodes()) openConsole(context, node_id);
    },
  },
  {
    id: 'node.rename',
    words: words.rename,
    keys: ['F2'],
    scope: 'nodes',
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
    scope: 'nodes',
    run: (context) => {
      const { lab, attempt } = context;
      void attempt(async () => {
        const made: string[] = [];
        const taken: Box[] = [...lab.nodes.values()];
        for (const node of context.selectedNodes()) {
          const place = { ...node, ...freePlace({ ...node, x: node.x + node.width + 25 }, taken) };
          taken.push(place);
          const { x, y, z, node_id: id } = place;
          const body = { x: Math.round(x), y: Math.round(y), z };
          made.push((await api.post<NodeObject>(`${lab.path}/nodes/${id}/duplicate`, body)).node_id);
        }
        context.select({ nodes: made });
      });
    },
  },
  {
    id: 'node.label',
    words: words.centreLabel,
    scope: 'nodes',
    enabled: (context) => context.selectedNodes().some(({ label }) => label.x != null),
    run: (context) => {
      const updates = context.selectedNodes().map(({ node_id: id, label, height }) => {
        const centred = { ...label, x: null, y: -Math.round(height / 2 + 10) };
        return { kind: 'node' as const, id, fields: { label: centred } };
      });
      void context.attempt(() => context.history.update(updates));
    },
  },
];

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
