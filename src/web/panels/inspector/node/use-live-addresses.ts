// The addresses that a node has while it runs, as far as its host knows them; read every few seconds while they are shown.
import { hasLiveAddresses } from '../../../model/lab/abilities.ts';
import type { Lab } from '../../../model/lab/lab.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';

const EVERY_MS = 3_000;

export function useLiveAddresses(lab: Lab, node: NodeObject): readonly string[] {
  const path = `${lab.path}/nodes/${node.node_id}/addresses`;
  // A server that starts again refuses to answer about a lab until it is open, and opens its events only then.
  const isKnown = hasLiveAddresses(node) && node.status === 'started' && lab.events.connection.value === 'live';
  const { value } = useLoaded(
    async () => ({ path, addresses: isKnown ? await api.get<string[]>(path) : [] }),
    [path, isKnown],
    isKnown ? EVERY_MS : undefined,
  );
  // Not those of the node that was shown before.
  return isKnown && value.value?.path === path ? value.value.addresses : [];
}
