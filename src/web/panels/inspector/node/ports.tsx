// The ports of a node, the other ends of their links, and the port settings.

import type { ComponentType } from 'preact';
import { endName } from '../../../model/lab/link-name.ts';
import { linkAt } from '../../../model/lab/linked-ports.ts';
import type { NodeObject, PortObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Columns } from '../../columns.tsx';
import { Changing } from '../changing.tsx';
import type { TabProps } from '../tabs.tsx';
import { Circuits } from './circuits.tsx';
import { HostInterfaces } from './host-interfaces.tsx';
import { MacTable } from './mac-table.tsx';
import { PortsTable } from './ports-table.tsx';

const words = WORDS.node;

/** Editors besides the list of links, by node type. */
const EDITORS: Readonly<Record<string, readonly ComponentType<TabProps<NodeObject>>[]>> = {
  ethernet_switch: [PortsTable, MacTable],
  ethernet_hub: [PortsTable],
  cloud: [PortsTable, HostInterfaces],
  nat: [() => <p>{words.natHelp}</p>],
  frame_relay_switch: [Circuits],
  atm_switch: [Circuits],
};

export function Ports(props: TabProps<NodeObject>) {
  const { context, object: node } = props;
  return (
    <>
      <Changing context={context}>
        {(EDITORS[node.node_type] ?? []).map((Editor, index) => (
          <Editor key={index} {...props} />
        ))}
      </Changing>
      <h3>{words.links}</h3>
      <table class="plain" aria-label={words.links}>
        <Columns titles={[words.port, words.leadsTo]} />
        <tbody>
          {node.ports.map((port) => (
            <tr key={`${port.adapter_number}/${port.port_number}`}>
              <th scope="row">{port.name}</th>
              <td>
                <Cable context={context} node={node} port={port} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The other end of a port's link, or that there is none. */
export function Cable({
  context,
  node,
  port,
}: Pick<TabProps<NodeObject>, 'context'> & { node: NodeObject; port: PortObject }) {
  const { lab, select } = context;
  const found = linkAt(lab, node, port);
  const other = found?.link.nodes.find((end) => end !== found.end);
  if (!found || !other) return <>{WORDS.nodes.free}</>;
  return (
    <button type="button" onClick={() => select({ link: found.link.link_id })}>
      {endName(lab, other)}
    </button>
  );
}
