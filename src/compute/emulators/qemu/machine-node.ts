// The node of a machine as the machine's parts see it.
import type { NodeProject } from '../../nodes/owner.ts';
import type { Services } from '../../services.ts';
import type { QemuHost } from './qemu-host.ts';

/** The node as its machine sees it. */
export interface MachineNode {
  readonly id: string;
  readonly name: string;
  readonly project: NodeProject;
  readonly services: Services;
  readonly host: QemuHost;
  readonly directory: string;
}
