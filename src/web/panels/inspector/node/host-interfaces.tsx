// The interfaces of a cloud's host, and what each needs to become a port of the cloud.

import type { HostInterface } from '../../../../api/routes/compute.ts';
import { whyNot } from '../../../model/account/permissions.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Columns } from '../../columns.tsx';
import { CopyLine } from '../../copy-line.tsx';
import { Message } from '../../message.tsx';
import type { TabProps } from '../tabs.tsx';

const words = WORDS.node;

/** As installed with the systemd unit; docs/clouds.md says the same. */
const GIVE_RIGHTS =
  'sudo install -D -m 644 systemd/interfaces.conf /etc/systemd/system/labwired.service.d/interfaces.conf && sudo systemctl daemon-reload && sudo systemctl restart labwired';

/** For admins only: the host's networks are not part of a lab. */
export function HostInterfaces(props: TabProps<NodeObject>) {
  return whyNot('administer') === '' ? <Interfaces {...props} /> : null;
}

function Interfaces({ object: node }: TabProps<NodeObject>) {
  const { value, problem, again } = useLoaded(
    () => api.get<HostInterface[]>(`/computes/${node.compute_id}/network/interfaces`),
    [node.compute_id],
  );
  return (
    <details>
      <summary>{words.hostInterfaces}</summary>
      <Message text={problem.value} again={again} />
      <table class="plain">
        <Columns titles={[WORDS.common.name, words.address, words.needsTitle]} />
        <tbody>
          {(value.value ?? []).map(({ name, ip_address: address, type, special }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{address || '–'}</td>
              <td>
                {words.needs[type]} {special && <small>({words.special})</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <CopyLine label={words.giveRights} text={GIVE_RIGHTS} />
    </details>
  );
}
