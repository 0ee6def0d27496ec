// Which hosts can run a node, and what is missing on the others.
import type { Host, PlacedNode, Problem } from './problem.ts';

/** No new nodes on a disk that is as full as this (percent). */
const FULL_DISK_PERCENT = 95;

/** What is missing on a host for a node; undefined if it can run there. */
export function missingOn(host: Host, node: PlacedNode, sendable: Problem['sendable']): string | undefined {
  if (!host.connected) return 'the host is not connected';
  if (host.draining) return 'the host is being drained; end that with undrain';
  if (!host.kinds.has(node.kind)) return `it does not run nodes of the kind ${node.kind}`;
  const unavailable = host.unavailable.get(node.kind);
  if (unavailable !== undefined) return `${node.kind} is unavailable: ${unavailable}`;
  if (node.kvm && !host.kvm) return 'KVM is missing';
  const isNear = (image: string): boolean =>
    host.images.has(image) || sendable.has(image) || host.inCluster?.has(image) === true;
  const image = node.images.find((one) => !isNear(one));
  if (image !== undefined) return `the image ${image} is missing`;
  const unconnected = node.interfaces.find((one) => !host.interfaces.has(one));
  if (unconnected !== undefined) return `there is no network interface ${unconnected}`;
  if (host.processors !== undefined && node.processors > host.processors)
    return `${node.processors} processors needed, ${host.processors} there`;
  if (node.memory > host.memory)
    return `${Math.ceil(node.memory)} MiB of memory needed, ${Math.max(Math.floor(host.memory), 0)} MiB free`;
  if (host.diskPercent >= FULL_DISK_PERCENT) return `its disk is ${Math.round(host.diskPercent)} % full`;
  return undefined;
}

/** `missingOn`, computed once for nodes with the same needs. */
export function eligibility(sendable: Problem['sendable']): (host: Host, node: PlacedNode) => string | undefined {
  type ByHost = Map<string, string | undefined>;
  const ofNeeds = new Map<string, ByHost>();
  const ofNode = new Map<PlacedNode, ByHost>();
  return (host, node) => {
    let known = ofNode.get(node);
    if (known === undefined) {
      const { kind, memory, processors, kvm, images, interfaces } = node;
      const key = JSON.stringify([kind, memory, processors, kvm, images, interfaces]);
      known = ofNeeds.get(key) ?? new Map();
      ofNeeds.set(key, known);
      ofNode.set(node, known);
    }
    if (!known.has(host.id)) known.set(host.id, missingOn(host, node, sendable));
    return known.get(host.id);
  };
}
