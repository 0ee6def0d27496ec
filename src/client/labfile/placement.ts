// Asks the server where the nodes of a file would be placed.
import type { PlacementObject } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import type { Session } from '../frame/session.ts';
import { nodeKey, type WantedLab } from './model.ts';
import type { Plan } from './plan.ts';
import { labPath } from './state.ts';

interface NodeBody {
  node_id: string;
  name: string;
  node_type: string;
  compute_id: string;
  properties?: object;
}

/** The bodies of the nodes that the plan creates. */
function created({ changes }: Pick<Plan, 'changes'>): NodeBody[] {
  return changes.flatMap((one) => (one.kind === 'node' && one.action === 'create' ? [one.body as NodeBody] : []));
}

/** Whether the plan leaves the host of a node to the server. */
export function leavesHosts(plan: Pick<Plan, 'changes'>): boolean {
  return created(plan).some(({ compute_id: host }) => host === AUTO_ID);
}

/**
 * The host and the reason of each node that the plan creates. If the lab is open, the server also keeps to it when these
 * nodes are created.
 * @throws Failure `conflict` if a node fits nowhere
 */
export async function placementOf({ api }: Session, wanted: WantedLab, plan: Plan): Promise<PlacementObject> {
  const bodies = created(plan);
  const { lab, state } = plan;
  const isOpen = lab?.status === 'opened';
  const present = isOpen ? (state?.nodes ?? []) : [];
  const ids = new Map([...bodies, ...present].map(({ name, node_id: id }) => [nodeKey(name), id]));
  const links = wanted.links
    .map(({ ends }) => ends.map(({ node }) => ids.get(nodeKey(node))))
    .filter((ends) => !ends.includes(undefined));
  const nodes = bodies.map(({ node_id, name, node_type, compute_id, properties = {} }) => {
    return { node_id, name, node_type, compute_id, properties };
  });
  const path = lab && isOpen ? `${labPath(lab)}/placement` : '/v2/placement';
  return api.post<PlacementObject>(path, { nodes, links });
}
