// Body of the drawing routes (`Drawing` of the interface).
import * as v from 'valibot';
import { Integer, Rotation, Uuid } from '../../store/vocabulary.ts';

export const DrawingBody = v.strictObject({
  drawing_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  x: v.optional(Integer),
  y: v.optional(Integer),
  z: v.optional(Integer),
  locked: v.optional(v.boolean()),
  rotation: v.optional(Rotation),
  svg: v.optional(v.string()),
});
export type DrawingBody = v.InferOutput<typeof DrawingBody>;
