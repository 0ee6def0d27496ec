// The addresses that a node has while it runs, as far as its host knows them; read every few seconds while they are shown.
import { useEffect } from 'preact/hooks';
import { hasLiveAddresses } from '../../../model/lab/abilities.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';

const EVERY_MS = 3_000;

export function useLiveAddresses(lab: string, node: NodeObject): readonly string[] {
  const path = `${lab}/nodes/${node.node_id}/addresses`;
  const isKnown = hasLiveAddresses(node) && node.status === 'started';
  const { value, again } = useLoaded(
    async () => ({ path, addresses: isKnown ? await api.get<string[]>(path) : [] }),
    [path, isKnown],
  );
  useEffect(() => {
    if (!isKnown) return;
    const timer = setInterval(() => !document.hidden && again(), EVERY_MS);
    return () => clearInterval(timer);
  }, [isKnown, again]);
  // Without an answer, as from a host of another release, nothing is shown; nor what is another node's.
  return isKnown && value.value?.path === path ? value.value.addresses : [];
}
