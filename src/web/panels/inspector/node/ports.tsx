// The ports of a node, the other ends of their links, and the port settings.

import type { ComponentType } from 'preact';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Columns } from '../../columns.tsx';
import { Changing } from '../changing.tsx';
import type { TabProps } from '../tabs.tsx';
import { Cable } from './cable.tsx';
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

/** Types whose table of ports has the other ends, too. */
const HAS_PEERS: readonly string[] = ['ethernet_switch', 'ethernet_hub'];

export function Ports(props: TabProps<NodeObject>) {
  const { context, object: node } = props;
  return (
    <>
      <Changing context={context}>
        {(EDITORS[node.node_type] ?? []).map((Editor, index) => (
          <Editor key={index} {...props} />
        ))}
      </Changing>
      {!HAS_PEERS.includes(node.node_type) && <Cables {...props} />}
    </>
  );
}

function Cables({ context, object: node }: TabProps<NodeObject>) {
  return (
    <>
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
