// Machines of other programs (VirtualBox, VMware): each is used by at most one node.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '../../../failures.ts';
import type { Services } from '../../services.ts';
import type { NodeProject } from '../owner.ts';

/** Seconds to wait for another node that may be about to go: of the same project, and of another. */
const PATIENCE = { same: 5, other: 30 };

interface User {
  node: string;
  project: string;
}

const used = new WeakMap<Services, Map<string, User>>();

function usersOf(services: Services): Map<string, User> {
  const known = used.get(services) ?? new Map<string, User>();
  used.set(services, known);
  return known;
}

/** Reserves a machine for a node. Throws `refusal` if another node keeps it. */
export async function reserveMachine(
  services: Services,
  machine: string,
  { id, project }: { id: string; project: NodeProject },
  refusal: () => Failure,
): Promise<void> {
  const users = usersOf(services);
  for (let waited = 0; ; waited += 1) {
    const other = users.get(machine);
    if (other === undefined || other.node === id) break;
    if (waited >= (other.project === project.id ? PATIENCE.same : PATIENCE.other)) throw refusal();
    await sleep(1000);
  }
  users.set(machine, { node: id, project: project.id });
}

export function releaseMachine(services: Services, machine: string, nodeId: string): void {
  const users = usersOf(services);
  if (users.get(machine)?.node === nodeId) users.delete(machine);
}

export function releaseMachines(services: Services, nodeId: string): void {
  const users = usersOf(services);
  for (const [machine, { node }] of [...users]) if (node === nodeId) users.delete(machine);
}
