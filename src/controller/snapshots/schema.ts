// Body of the creation of a snapshot (`SnapshotCreate` of the interface).
import * as v from 'valibot';
import { Text } from '../../store/vocabulary.ts';

export const SnapshotCreate = v.strictObject({ name: Text });
