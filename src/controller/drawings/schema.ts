// Body of the drawing routes (`Drawing` of the API): the members of a drawing in a topology file.
import type * as v from 'valibot';
import { TopologyDrawing } from '../../api/topology.ts';

export const DrawingBody = TopologyDrawing;
export type DrawingBody = v.InferOutput<typeof DrawingBody>;
