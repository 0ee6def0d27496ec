// Templates over HTTP.
import { answerText } from '../../events/json.ts';
import { entityTag, namesTag } from '../../http/app/entity-tags.ts';
import { JsonText, type Route, route } from '../../http/app/route.ts';
import { type NodeRequest, nodeRequest } from './node-request.ts';
import { TemplateCreate, TemplateUpdate, TemplateUsage } from './schema.ts';
import type { Templates } from './templates.ts';
import { templateForms } from './type-schemas.ts';

/**
 * Creates the node in the project. Calls `request` only after it has found the open project, so that those failures
 * come first.
 */
export type Instantiate = (projectId: string, request: () => NodeRequest) => Promise<object>;

export function templateRoutes(templates: Templates, instantiate: Instantiate): Route[] {
  return [
    route('GET /v2/templates', {}, () => templates.list()),
    route('POST /v2/templates', { body: TemplateCreate, forms: templateForms, status: 201 }, ({ body }) =>
      templates.create(body),
    ),
    route('GET /v2/templates/{template_id}', {}, ({ params, headers }) => {
      const text = answerText(templates.get(params.template_id));
      const tag = entityTag(text);
      if (namesTag(headers.get('if-none-match'), tag))
        return new Response(null, { status: 304, headers: { ETag: tag } });
      return new JsonText(text, { ETag: tag });
    }),
    route('PUT /v2/templates/{template_id}', { body: TemplateUpdate }, ({ params, body }) =>
      templates.update(params.template_id, body),
    ),
    route('DELETE /v2/templates/{template_id}', { status: 204 }, ({ params }) => templates.delete(params.template_id)),
    route('POST /v2/templates/{template_id}/duplicate', { status: 201 }, ({ params }) =>
      templates.duplicate(params.template_id),
    ),
    route(
      'POST /v2/projects/{project_id}/templates/{template_id}',
      { body: TemplateUsage, status: 201 },
      ({ params, body }) => instantiate(params.project_id, () => nodeRequest(templates.get(params.template_id), body)),
    ),
  ];
}
