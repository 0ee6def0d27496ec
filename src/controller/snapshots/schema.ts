// Body for creating a snapshot (`SnapshotCreate` of the API).
import * as v from 'valibot';
import { Name } from '../../api/vocabulary.ts';

/** `running`, an extension: nodes may run and are saved with their state. */
export const SnapshotCreate = v.strictObject({ name: Name, running: v.optional(v.boolean(), false) });
export type SnapshotCreate = v.InferOutput<typeof SnapshotCreate>;
