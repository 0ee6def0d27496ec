// A lab on the server.
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { LinkObject, ProjectObject } from '../../api/objects.ts';
import type { Label } from '../../api/vocabulary.ts';
import type { DrawingRecord } from '../../controller/drawings/drawing.ts';
import type { LinkImpairments } from '../../controller/links/impairments.ts';
import { Failure, ignoreNotFound } from '../../failures.ts';
import type { Session } from '../frame/session.ts';
import type { Api } from '../server/api.ts';
import { encodedPath } from '../server/encoded-path.ts';
import { findNamed } from '../server/find.ts';
import { readNodes, type ServerNode } from '../server/nodes.ts';

export interface ServerLink extends Omit<LinkObject, 'nodes'> {
  nodes: { node_id: string; adapter_number: number; port_number: number; label?: Label }[];
  filters: Record<string, (number | string)[]>;
  impairments?: LinkImpairments;
}

export type ServerDrawing = DrawingRecord;

export interface ServerLab {
  object: Pick<ProjectObject, 'project_id' | 'name' | 'status'> & Record<string, unknown>;
  nodes: ServerNode[];
  links: ServerLink[];
  drawings: ServerDrawing[];
}

export const labPath = ({ project_id }: { project_id: string }): string => `/v2/projects/${project_id}`;
export const nodePath = (lab: { project_id: string }, id: string): string => `${labPath(lab)}/nodes/${id}`;

/**
 * Finds the lab by id, otherwise by name; undefined if there is none.
 * @throws Failure if several have the name
 */
export async function findLab(
  session: Session,
  { name, id }: { name: string; id: string | undefined },
): Promise<ProjectObject | undefined> {
  const labs = await session.labs();
  if (id !== undefined) return labs.find(({ project_id }) => project_id === id);
  const named = labs.filter((lab) => lab.name === name);
  if (named.length === 0) return undefined;
  return findNamed('lab', named, (lab) => ({ id: lab.project_id, name: lab.name }), name);
}

export async function readLabState(api: Api, { project_id }: { project_id: string }): Promise<ServerLab> {
  const path = labPath({ project_id });
  const [object, nodes, links, drawings] = await Promise.all([
    api.get<ServerLab['object']>(path),
    readNodes(api, { project_id }),
    api.get<ServerLink[]>(`${path}/links`),
    api.get<ServerDrawing[]>(`${path}/drawings`),
  ]);
  return { object, nodes, links, drawings };
}

/** The content of a node's file; undefined if it does not exist. */
export async function readNodeFile(
  api: Api,
  lab: { project_id: string },
  node: ServerNode,
  path: string,
): Promise<Buffer | undefined> {
  return api
    .stream(`${nodePath(lab, node.node_id)}/files/${encodedPath(path)}`)
    .then(buffer)
    .catch(ignoreNotFound);
}

/** @throws Failure that names the file */
export async function writeNodeFile(
  api: Api,
  lab: { project_id: string },
  id: string,
  { path, content }: { path: string; content: Buffer },
): Promise<void> {
  await api.upload(`${nodePath(lab, id)}/files/${encodedPath(path)}`, {
    content: Readable.from([content]),
    type: 'application/octet-stream',
    length: content.length,
  });
}

/** The file of a lab, among those of its directory, that keeps its checks. */
export const KEPT_CHECKS = 'checks.yaml';

/** The same for its notes, also on servers of the release. */
export const NOTES = 'README.txt';

export const labFilePath = (lab: Pick<ProjectObject, 'project_id'>, file: string): string =>
  `${labPath(lab)}/files/${file}`;

/** The text of such a file; undefined if there is none. */
export async function readLabFile(
  api: Api,
  lab: Pick<ProjectObject, 'project_id'>,
  file: string,
): Promise<string | undefined> {
  return api.stream(labFilePath(lab, file)).then(text).catch(ignoreNotFound);
}

/** Whether there is such a file with content, also one that the server refuses to read: a folder, or a link out of the lab's folder. */
export async function hasLabFile(api: Api, lab: Pick<ProjectObject, 'project_id'>, file: string): Promise<boolean> {
  try {
    for await (const _piece of await api.stream(labFilePath(lab, file))) return true;
    return false;
  } catch (error) {
    if (error instanceof Failure && error.code === 'conflict') return true;
    return ignoreNotFound(error) ?? false;
  }
}
