// Templates over HTTP.
import type { NodeObject } from '../../api/objects.ts';
import { TEMPLATE_ROUTES } from '../../api/routes/templates.ts';
import { answerText } from '../../events/json.ts';
import { taggedText } from '../../http/app/entity-tags.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { type NodeRequest, nodeRequest } from './node-request.ts';
import type { Templates } from './templates.ts';

const { route } = routesOf(TEMPLATE_ROUTES);

/**
 * Creates the node in the project. Calls `request` only after it has found the open project, so that those failures
 * come first.
 */
export type Instantiate = (projectId: string, request: () => NodeRequest) => Promise<NodeObject>;

export function templateRoutes(templates: Templates, instantiate: Instantiate): Route[] {
  return [
    route('GET /v2/templates', () => templates.list()),
    route('POST /v2/templates', ({ body }) => templates.create(body)),
    route('GET /v2/templates/{template_id}', ({ params, headers }) =>
      taggedText(answerText(templates.get(params.template_id)), headers),
    ),
    route('PUT /v2/templates/{template_id}', ({ params, body }) => templates.update(params.template_id, body)),
    route('DELETE /v2/templates/{template_id}', ({ params }) => templates.delete(params.template_id)),
    route('POST /v2/templates/{template_id}/duplicate', ({ params }) => templates.duplicate(params.template_id)),
    route('POST /v2/projects/{project_id}/templates/{template_id}', ({ params, body }) =>
      instantiate(params.project_id, () => nodeRequest(templates.get(params.template_id), body)),
    ),
  ];
}
