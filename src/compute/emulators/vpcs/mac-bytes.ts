// Which virtual PC of a project has which MAC address.
import type { NodeProject } from '../../nodes/owner.ts';
import { chooseMacByte } from './command.ts';

/** From a project to its PCs' last MAC bytes by node identifier; a project that is gone takes its entry along. */
const used = new WeakMap<NodeProject, Map<string, number>>();

/** The byte of one more PC, which keeps it until `releaseMacByte`. */
export function reserveMacByte(project: NodeProject, nodeId: string): number {
  const bytes = used.get(project) ?? new Map<string, number>();
  used.set(project, bytes);
  const byte = chooseMacByte(bytes.values());
  bytes.set(nodeId, byte);
  return byte;
}

export function releaseMacByte(project: NodeProject, nodeId: string): void {
  used.get(project)?.delete(nodeId);
}
