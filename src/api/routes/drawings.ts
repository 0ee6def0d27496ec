// Drawings: the bodies and the routes.
import type * as v from 'valibot';
import type { DrawingObject } from '../objects.ts';
import { TopologyDrawing } from '../topology.ts';
import { answers, type RouteDefinitions } from './definition.ts';

export const DrawingBody = TopologyDrawing;
export type DrawingBody = v.InferOutput<typeof DrawingBody>;

// biome-ignore format: a table
export const DRAWING_ROUTES = {
  'GET /v2/projects/{project_id}/drawings':
    { access: 'watch', privilege: 'Drawing.Audit', answer: answers<DrawingObject[]>(),
      summary: 'List drawings of a project' },
  'POST /v2/projects/{project_id}/drawings':
    { access: 'change', privilege: 'Drawing.Allocate', body: DrawingBody, status: 201, answer: answers<DrawingObject>(),
      summary: 'Create a drawing' },
  'GET /v2/projects/{project_id}/drawings/{drawing_id}':
    { access: 'watch', privilege: 'Drawing.Audit', answer: answers<DrawingObject>(), summary: 'Read a drawing' },
  'PUT /v2/projects/{project_id}/drawings/{drawing_id}':
    { access: 'change', privilege: 'Drawing.Modify', body: DrawingBody, status: 201, answer: answers<DrawingObject>(),
      summary: 'Update a drawing' },
  'DELETE /v2/projects/{project_id}/drawings/{drawing_id}':
    { access: 'change', privilege: 'Drawing.Allocate', status: 204, summary: 'Delete a drawing' },
} as const satisfies RouteDefinitions;
