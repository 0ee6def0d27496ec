// Body of the creation of a snapshot (`SnapshotCreate` of the interface).
import * as v from 'valibot';
import { Name } from '../../store/vocabulary.ts';

/** `running`, an extension: nodes may run, and are kept with what they are doing. */
export const SnapshotCreate = v.strictObject({ name: Name, running: v.optional(v.boolean(), false) });
export type SnapshotCreate = v.InferOutput<typeof SnapshotCreate>;
