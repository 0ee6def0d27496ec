// Bodies of the project routes (`ProjectCreate`, `ProjectUpdate`, `ProjectLoad` of the API).
import * as v from 'valibot';
import { PROJECT_SETTINGS } from '../../api/topology.ts';
import { Name, Text, Uuid } from '../../api/vocabulary.ts';

export const ProjectCreate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.nullable(Name),
  path: v.optional(v.nullable(Text)),
  project_id: v.optional(v.nullable(Uuid)),
});
export type ProjectCreate = v.InferOutput<typeof ProjectCreate>;

/**
 * A client may send a project back unchanged. Old labs have names that are no longer valid, so names are checked only
 * when they change.
 */
export const ProjectUpdate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.optional(v.nullable(Text)),
  path: v.optional(v.nullable(v.string())),
});
export type ProjectUpdate = v.InferOutput<typeof ProjectUpdate>;

export const ProjectLoad = v.strictObject({ path: Text });
