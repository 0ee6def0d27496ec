// The host of the nodes; choosing another one moves them.

import { useSignal } from '@preact/signals';
import { AUTO_ID } from '../../../../api/placement.ts';
import type { LabContext } from '../../../lab-context.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';

const words = WORDS.node;

interface Host {
  compute_id: string;
  name: string;
  connected: boolean;
}

export function HostField({ context, nodes }: { context: LabContext; nodes: readonly NodeObject[] }) {
  const hosts = useLoaded(
    () => api.get<Host[]>('/computes'),
    [nodes.map((node) => node.node_id + node.lost_reason).join()],
  );
  const isMoving = useSignal(false);
  const problem = hosts.problem.value;
  if (problem !== '') return <Message text={`${words.host}: ${problem}`} again={hosts.again} />;
  const known = (hosts.value.value ?? []).filter(({ compute_id: id }) => id !== AUTO_ID);
  if (known.length < 2) return null;
  const ids = new Set(nodes.map((node) => node.compute_id));
  const [common = ''] = ids.size === 1 ? ids : [];
  const move = async (select: HTMLSelectElement): Promise<void> => {
    const compute_id = select.value;
    isMoving.value = true;
    await context.attempt(async () => {
      for (const { node_id: id } of nodes) await api.put(`${context.lab.path}/nodes/${id}`, { compute_id });
    });
    isMoving.value = false;
    // Reset a rejected choice.
    select.value = common;
  };
  return (
    <Changing context={context}>
      <label title={words.hostHelp}>
        {words.host}{' '}
        <select value={common} disabled={isMoving.value} onChange={({ currentTarget }) => void move(currentTarget)}>
          {common === '' && <option value="" />}
          {known.map(({ compute_id: id, name, connected }) => (
            <option key={id} value={id} disabled={!connected && id !== common}>
              {connected ? name : words.notConnected(name)}
            </option>
          ))}
        </select>
      </label>
    </Changing>
  );
}
