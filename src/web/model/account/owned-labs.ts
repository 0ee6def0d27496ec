// The labs of each account, for admins.
import type { Share } from '../../../api/routes/accounts.ts';
import { api } from '../server/api.ts';
import type { ProjectObject } from '../server/types.ts';

export interface Owned {
  id: string;
  name: string;
}

/** By the owner's name. @throws Refusal */
export async function readOwnedLabs(): Promise<ReadonlyMap<string | null, readonly Owned[]>> {
  const [shares, projects] = await Promise.all([
    api.get<Share[]>('/project-sharing'),
    api.get<ProjectObject[]>('/projects'),
  ]);
  const names = new Map(projects.map(({ project_id: id, name }) => [id, name]));
  const labs = shares.map(({ owner, project_id: id }) => ({ owner, id, name: names.get(id) ?? '' }));
  return Map.groupBy(labs, ({ owner }) => owner);
}
