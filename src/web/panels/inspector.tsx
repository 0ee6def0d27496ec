// What is selected, with its verbs: a node, several nodes, or a link.
import type { Signal } from '@preact/signals';
import { api } from '../model/api.ts';
import type { Lab } from '../model/lab.ts';
import { linkAt, portName } from '../model/ports.ts';
import type { Selection } from '../model/selection.ts';
import type { LinkObject, NodeObject } from '../model/types.ts';
import { STATUS, WORDS } from '../words.ts';

interface InspectorProps {
  lab: Lab;
  selection: Signal<Selection>;
  attempt: (task: () => Promise<unknown>) => Promise<boolean>;
  openConsole: (nodeId: string) => void;
  select: (selection: Selection) => void;
  remove: () => void;
}

export function Inspector(props: InspectorProps) {
  const { lab, selection } = props;
  lab.changes.value; // drawn anew with every change
  const nodes = selection.value.nodes.flatMap((id) => lab.nodes.get(id) ?? []);
  const link = selection.value.link === undefined ? undefined : lab.links.get(selection.value.link);
  return (
    <aside class="inspector" data-pane aria-label={WORDS.details}>
      {link && <LinkDetails {...props} link={link} />}
      {nodes.length === 1 && <NodeDetails key={nodes[0]!.node_id} {...props} node={nodes[0]!} />}
      {nodes.length > 1 && (
        <>
          <h2>
            {nodes.length} {WORDS.nodes}
          </h2>
          <Verbs {...props} nodes={nodes} />
        </>
      )}
      {!link && nodes.length === 0 && <p>{WORDS.nothingSelected}</p>}
    </aside>
  );
}

function Verbs({ lab, attempt, remove, nodes }: InspectorProps & { nodes: readonly NodeObject[] }) {
  const verb = (action: string) => () => {
    for (const { node_id } of nodes) void attempt(() => api.post(`${lab.path}/nodes/${node_id}/${action}`));
  };
  const some = (status: string): boolean => nodes.some((node) => node.status === status);
  return (
    <p class="tools">
      <button type="button" disabled={!some('stopped')} onClick={verb('start')}>
        {WORDS.start}
      </button>
      <button type="button" disabled={!some('started') && !some('suspended')} onClick={verb('stop')}>
        {WORDS.stop}
      </button>
      <button type="button" disabled={!some('started')} onClick={verb('reload')}>
        {WORDS.reload}
      </button>
      {some('suspended') ? (
        <button type="button" onClick={verb('start')}>
          {WORDS.resume}
        </button>
      ) : (
        <button type="button" disabled={!some('started')} onClick={verb('suspend')}>
          {WORDS.suspend}
        </button>
      )}
      <button type="button" onClick={remove}>
        {WORDS.remove}
      </button>
    </p>
  );
}

function NodeDetails(props: InspectorProps & { node: NodeObject }) {
  const { lab, attempt, node, openConsole, select } = props;
  const rename = (event: Event): void => {
    const field = event.currentTarget as HTMLInputElement;
    if (field.value === node.name) return;
    void attempt(() => api.put(`${lab.path}/nodes/${node.node_id}`, { name: field.value })).then((done) => {
      if (!done) field.value = node.name;
    });
  };
  return (
    <>
      <h2>
        <span class="state" data-status={node.status} /> {node.name}
      </h2>
      <Verbs {...props} nodes={[node]} />
      <dl>
        <dt>{WORDS.name}</dt>
        <dd>
          <input aria-label={WORDS.name} value={node.name} onChange={rename} autocomplete="off" />
        </dd>
        <dt>{WORDS.state}</dt>
        <dd>
          {STATUS[node.status]}, {node.node_type.replaceAll('_', ' ')}
        </dd>
        {node.console !== null && (
          <>
            <dt>{WORDS.console}</dt>
            <dd>
              {node.console_type} {node.console_host}:{node.console}{' '}
              <button type="button" onClick={() => openConsole(node.node_id)}>
                {WORDS.console}
              </button>
            </dd>
          </>
        )}
      </dl>
      <h3>{WORDS.ports}</h3>
      <ul>
        {node.ports.map((port) => {
          const found = linkAt(lab, node, port);
          const other = found?.link.nodes.find((end) => end !== found.end);
          return (
            <li key={`${port.adapter_number}/${port.port_number}`}>
              {port.name}:{' '}
              {found && other ? (
                <button type="button" onClick={() => select({ nodes: [], link: found.link.link_id })}>
                  {lab.nodes.get(other.node_id)?.name} {portName(lab, other)}
                </button>
              ) : (
                WORDS.free
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function LinkDetails({ lab, attempt, link, select, remove }: InspectorProps & { link: LinkObject }) {
  const path = `${lab.path}/links/${link.link_id}`;
  const address = `${location.origin}/v2${path}/pcap`;
  return (
    <>
      <h2>
        {link.nodes.map((end, index) => (
          <>
            {index > 0 && ' – '}
            <button type="button" onClick={() => select({ nodes: [end.node_id], link: undefined })}>
              {lab.nodes.get(end.node_id)?.name} {portName(lab, end)}
            </button>
          </>
        ))}
      </h2>
      <p class="tools">
        <button type="button" onClick={() => void attempt(() => api.put(path, { suspend: !link.suspend }))}>
          {link.suspend ? WORDS.resume : WORDS.suspend}
        </button>
        <button
          type="button"
          onClick={() => void attempt(() => api.post(`${path}/${link.capturing ? 'stop' : 'start'}_capture`))}
        >
          {link.capturing ? WORDS.stopCapture : WORDS.startCapture}
        </button>
        <button type="button" onClick={remove}>
          {WORDS.remove}
        </button>
      </p>
      {link.capturing && (
        <>
          <p>{WORDS.wireshark}:</p>
          <pre>curl -sN {address} | wireshark -k -i -</pre>
        </>
      )}
    </>
  );
}
