// Verbs of the nodes that are selected.
import type { LabContext } from '../lab-context.ts';
import { api } from '../model/api.ts';
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
    id: 'node.delete',
    words: WORDS.common.remove,
    keys: ['Delete'],
    scope: 'nodes',
    run: (context) => {
      const { lab, attempt } = context;
      const nodes = context.selectedNodes();
      if (!confirm(words.askRemove(nodes.map(({ name }) => name).join(', ')))) return;
      for (const { node_id } of nodes) void attempt(() => api.delete(`${lab.path}/nodes/${node_id}`));
      context.select({});
    },
  },
];

/** Opens the console of a node, or says why the page cannot. */
export function openConsole({ lab, dock }: LabContext, nodeId: string): void {
  const node = lab.nodes.get(nodeId);
  if (!node) return;
  if (node.console_type === 'telnet') dock.open({ kind: 'console', id: nodeId, title: node.name, nodeId });
  else lab.message.value = words.noConsole(node.name, node.console_type ?? 'none');
}
