// Bodies of the compute's project routes. The release validates them like the controller's, though a compute uses only
// four members.
import * as v from 'valibot';
import { PROJECT_SETTINGS } from '../../api/topology.ts';
import { Text, Uuid } from '../../api/vocabulary.ts';

export const ProjectCreate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.nullable(Text),
  path: v.optional(v.nullable(Text)),
  project_id: v.optional(v.nullable(Uuid)),
});

export const ProjectUpdate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.optional(v.nullable(Text)),
  path: v.optional(v.nullable(v.string())),
});
