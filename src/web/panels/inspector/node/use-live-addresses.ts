// The addresses that a node has while it runs, as far as its host knows them; read every few seconds while they are shown.
import { hasLiveAddresses } from '../../../model/lab/abilities.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';

const EVERY_MS = 3_000;

export function useLiveAddresses(lab: string, node: NodeObject): readonly string[] {
  const path = `${lab}/nodes/${node.node_id}/addresses`;
  const isKnown = hasLiveAddresses(node) && node.status === 'started';
  const { value } = useLoaded(
    async () => ({ path, addresses: isKnown ? await api.get<string[]>(path) : [] }),
    [path, isKnown],
    isKnown ? EVERY_MS : undefined,
  );
  // Not those of the node that was shown before.
  return isKnown && value.value?.path === path ? value.value.addresses : [];
}
