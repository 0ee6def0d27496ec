// A node: its verbs and tabs.
import type { LabContext } from '../../lab-context.ts';
import { alwaysRuns, hasFiles } from '../../model/lab/abilities.ts';
import type { NodeObject } from '../../model/server/types.ts';
import { STATUS, stateOf, typeInWords, WORDS } from '../../words.ts';
import { Button } from '../button.tsx';
import { lazily } from '../lazy-component.tsx';
import { VerbButton } from '../verb-button.tsx';
import { type Tab, type TabProps, Tabs } from './tabs.tsx';

type Parts = typeof import('./node/tabs.ts');
type TabName = Exclude<keyof Parts, 'Several'>;

const parts = (): Promise<Parts> => import('./node/tabs.ts');
const tab = (name: TabName) => lazily<TabProps<NodeObject>>(async () => (await parts())[name]);

const PORTS: Tab<NodeObject> = { id: 'ports', title: WORDS.nodes.ports, component: tab('Ports') };
const NODE_TABS: readonly Tab<NodeObject>[] = [
  // Ports are all that there is to most parts of the server, such as switches.
  { ...PORTS, shown: alwaysRuns },
  { id: 'general', title: WORDS.nodes.general, component: tab('General') },
  {
    id: 'settings',
    title: WORDS.node.settings,
    component: tab('Settings'),
    shown: (node) => hasFiles(node) || node.node_type === 'cloud',
  },
  { ...PORTS, shown: hasFiles },
  { id: 'files', title: WORDS.node.files, component: tab('Files'), shown: hasFiles },
  { id: 'log', title: WORDS.node.log, component: tab('Log') },
];

/** The form for the common settings of several nodes. */
export const SeveralNodes = lazily<{ context: LabContext; nodes: readonly NodeObject[] }>(
  async () => (await parts()).Several,
);

/** Buttons for the selected nodes. */
export function NodeVerbs({ context }: { context: LabContext }) {
  return (
    <p class="tools">
      {['start', 'stop', 'reload', 'suspend', 'console', 'arrange', 'delete'].map((verb) => (
        <VerbButton key={verb} context={context} id={`node.${verb}`} />
      ))}
    </p>
  );
}

export function NodeDetails({ context, object: node }: TabProps<NodeObject>) {
  return (
    <>
      <h2>
        <span class="state" data-status={node.status} /> {node.name}
      </h2>
      <p class="about">
        {STATUS[stateOf(node)]}, {typeInWords(node.node_type)}
      </p>
      <NodeVerbs context={context} />
      {node.halt_reason !== undefined && (
        <p class="hint" role="status">
          {node.halt_reason}{' '}
          <Button class="quiet" onClick={() => document.getElementById('tab-log')?.click()} text={WORDS.node.openLog} />
        </p>
      )}
      <Tabs tabs={NODE_TABS} context={context} object={node} />
    </>
  );
}
