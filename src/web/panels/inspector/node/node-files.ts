// The files of a node, through the API.
import { api } from '../../../model/server/api.ts';
import type { NodeObject } from '../../../model/server/types.ts';

/** Types without a directory or settings other than ports. */
const WITHOUT_FILES = ['ethernet_switch', 'ethernet_hub', 'frame_relay_switch', 'atm_switch', 'nat', 'cloud'];
export const hasFiles = ({ node_type: type }: NodeObject): boolean => !WITHOUT_FILES.includes(type);

export interface DiskUse {
  /** Size of all files on disk. */
  bytes: number;
  files: { path: string; size: number; bytes: number }[];
}

export function pathOfFile(node: NodeObject, path: string): string {
  return `/projects/${node.project_id}/nodes/${node.node_id}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** @throws Refusal */
export function diskUse({ project_id: project, node_id: node }: NodeObject): Promise<DiskUse> {
  return api.get<DiskUse>(`/projects/${project}/nodes/${node}/disk_use`);
}

/**
 * A file as text: empty if missing, undefined if it is not text or larger than `most` bytes.
 * @throws Refusal
 */
export async function textOfFile(node: NodeObject, path: string, most: number): Promise<string | undefined> {
  const file = (await diskUse(node)).files.find((each) => each.path === path);
  if (!file) return '';
  return file.size > most ? undefined : await api.text(pathOfFile(node, path), most);
}
