// The files of a node, through the API.
import type { DiskUse } from '../../../../api/routes/compute-nodes.ts';
import { draftPaths } from '../../../model/lab/file-drafts.ts';
import { api } from '../../../model/server/api.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import type { TextFile } from '../file-editor.tsx';

export function pathOfFile(node: NodeObject, path: string): string {
  return `/projects/${node.project_id}/nodes/${node.node_id}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** @throws Refusal */
export function diskUse({ project_id: project, node_id: node }: NodeObject): Promise<DiskUse> {
  return api.get<DiskUse>(`/projects/${project}/nodes/${node}/disk_use`);
}

/** Longer files are not configurations. */
const MOST_BYTES = 1024 * 1024;

/** A file of the node for the editor. */
export function textFile(node: NodeObject, path: string): TextFile {
  return {
    title: path,
    path: pathOfFile(node, path),
    back: WORDS.node.back,
    read: async () => {
      const file = (await diskUse(node)).files.find((each) => each.path === path);
      if (!file) return '';
      return file.size > MOST_BYTES ? undefined : await api.text(pathOfFile(node, path), MOST_BYTES);
    },
    write: (text) => api.upload(pathOfFile(node, path), new Blob([text])),
    isAbout: ({ path: changed }) => String(changed).includes(node.node_id) && String(changed).endsWith(path),
  };
}

/** The file of the node whose text is not saved yet; there is one at most, because leaving the editor asks. */
export function draftedFile(node: NodeObject): TextFile | undefined {
  const ofAll = pathOfFile(node, '');
  const path = draftPaths().find((each) => each.startsWith(ofAll));
  return path === undefined ? undefined : textFile(node, decodeURIComponent(path.slice(ofAll.length)));
}
