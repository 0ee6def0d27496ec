// A node: its verbs, and its tabs.
import type { LabContext } from '../../lab-context.ts';
import { api } from '../../model/api.ts';
import { linkAt, portName } from '../../model/ports.ts';
import type { NodeObject } from '../../model/types.ts';
import { openConsole } from '../../verbs/nodes.ts';
import { STATUS, WORDS } from '../../words.ts';
import { VerbButton } from '../verb-button.tsx';
import { type Tab, type TabProps, Tabs } from './tabs.tsx';

/** The tabs of a node. */
const NODE_TABS: readonly Tab<NodeObject>[] = [
  { id: 'general', title: WORDS.nodes.general, component: General },
  { id: 'ports', title: WORDS.nodes.ports, component: Ports },
];

/** The buttons for the nodes that are selected. */
export function NodeVerbs({ context }: { context: LabContext }) {
  return (
    <p class="tools">
      {['start', 'stop', 'reload', 'suspend', 'console', 'delete'].map((verb) => (
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
      <NodeVerbs context={context} />
      <Tabs tabs={NODE_TABS} context={context} object={node} />
    </>
  );
}

function General({ context, object: node }: TabProps<NodeObject>) {
  const { lab, attempt } = context;
  const rename = (event: Event): void => {
    const field = event.currentTarget as HTMLInputElement;
    if (field.value === node.name) return;
    void attempt(() => api.put(`${lab.path}/nodes/${node.node_id}`, { name: field.value })).then((done) => {
      if (!done) field.value = node.name;
    });
  };
  return (
    <dl>
      <dt>{WORDS.common.name}</dt>
      <dd>
        <input aria-label={WORDS.common.name} value={node.name} onChange={rename} autocomplete="off" />
      </dd>
      <dt>{WORDS.common.state}</dt>
      <dd>
        {STATUS[node.status]}, {node.node_type.replaceAll('_', ' ')}
      </dd>
      {node.console !== null && (
        <>
          <dt>{WORDS.nodes.console}</dt>
          <dd>
            <button type="button" onClick={() => openConsole(context, node.node_id)}>
              {node.console_type} {node.console_host}:{node.console}
            </button>
          </dd>
        </>
      )}
    </dl>
  );
}

function Ports({ context: { lab, select }, object: node }: TabProps<NodeObject>) {
  return (
    <ul>
      {node.ports.map((port) => {
        const found = linkAt(lab, node, port);
        const other = found?.link.nodes.find((end) => end !== found.end);
        return (
          <li key={`${port.adapter_number}/${port.port_number}`}>
            {port.name}:{' '}
            {found && other ? (
              <button type="button" onClick={() => select({ link: found.link.link_id })}>
                {lab.nodes.get(other.node_id)?.name} {portName(lab, other)}
              </button>
            ) : (
              WORDS.nodes.free
            )}
          </li>
        );
      })}
    </ul>
  );
}
