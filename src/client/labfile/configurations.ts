// Start-up configurations of nodes: which types have one, and where clients find it among the files of a node.
import { basename } from 'node:path';
import type { ServerNode } from './state.ts';

/** Types of nodes that have a start-up configuration. */
const CONFIGURED_TYPES = ['vpcs', 'dynamips', 'iou'];

export const hasConfiguration = (type: string): boolean => CONFIGURED_TYPES.includes(type);

/** Routers have one more, for what is not to be shown. */
export const hasPrivateConfiguration = (type: string): boolean => hasConfiguration(type) && type !== 'vpcs';

/** The path of a file of a node below its directory; a router's name of it has the router's number. */
export function configPath(node: ServerNode, secret: boolean): string {
  const kind = secret ? 'private-config' : 'startup-config';
  if (node.node_type === 'vpcs') return 'startup.vpc';
  if (node.node_type === 'iou') return `${kind}.cfg`;
  return `configs/i${node.properties['dynamips_id']}_${kind}.cfg`;
}

/** What a configuration says, whatever line of comment a server has put before it. */
export function withoutMark(node: ServerNode, path: string, content: Buffer): Buffer {
  const isConfig = node.node_type === 'dynamips' && basename(path).endsWith('-config.cfg');
  return isConfig && content.subarray(0, 2).toString() === '!\n' ? content.subarray(2) : content;
}
