// The MAC addresses learned by a switch, polled every two seconds while shown.

import type { MacTableRow } from '../../../../api/routes/compute-nodes.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { Columns } from '../../columns.tsx';
import { WindowedBodies } from '../../long-list.tsx';
import { Message } from '../../message.tsx';
import type { TabProps } from '../tabs.tsx';

const words = WORDS.node;
const EVERY_MS = 2_000;

export function MacTable({ context, object: node }: TabProps<NodeObject>) {
  const path = `${context.lab.path}/nodes/${node.node_id}/mac_table`;
  const { value, problem, again } = useLoaded(() => api.get<MacTableRow[]>(path), [path], EVERY_MS);
  const addresses = value.value ?? [];
  return (
    <>
      <h3>
        {words.macTable}{' '}
        <Button
          disabled={addresses.length === 0}
          onClick={() => void context.attempt(() => api.delete(path)).then(again)}
          text={words.clear}
        />
      </h3>
      <Message text={problem.value} again={again} />
      {addresses.length === 0 && problem.value === '' && (
        <p>
          <small>{words.noAddresses}</small>
        </p>
      )}
      {addresses.length > 0 && (
        <table class="plain" aria-label={words.macTable} aria-rowcount={addresses.length + 1}>
          <Columns counts titles={[words.macAddress, words.vlan, words.port, words.age]} />
          <WindowedBodies
            items={addresses}
            keyOf={({ vlan, mac_address: address }) => `${vlan} ${address}`}
            height={28}
            columns={4}
            row={({ vlan, mac_address: address, port_name: port, age }, place) => (
              <tr {...place}>
                <td class="code">{address}</td>
                <td>{vlan}</td>
                <td>{port}</td>
                <td>{words.seconds(age)}</td>
              </tr>
            )}
          />
        </table>
      )}
    </>
  );
}
