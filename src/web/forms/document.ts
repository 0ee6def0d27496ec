// Schemas of node, template and host settings from the server's API document. Each path is fetched once, for the first form that needs it.
import { api } from '../model/server/api.ts';
import { type Field, fieldsOf, type JsonSchema } from './schema.ts';

interface Operation {
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}
type ApiDocument = { paths: Record<string, Record<string, Operation>> };

/** By path. */
const documents = new Map<string, Promise<ApiDocument>>();

/** @throws Refusal */
async function bodySchema(method: string, path: string): Promise<JsonSchema> {
  let document = documents.get(path);
  if (!document) {
    document = api.get<ApiDocument>(`/openapi.json?${new URLSearchParams({ path })}`).catch((error: unknown) => {
      // The next form tries again.
      documents.delete(path);
      throw error;
    });
    documents.set(path, document);
  }
  return (await document).paths[path]?.[method]?.requestBody?.content['application/json']?.schema ?? {};
}

/** The settings of this type of node, as its compute accepts them. @throws Refusal */
export async function settingsOf(type: string): Promise<Field[]> {
  return fieldsOf(await bodySchema('put', `/v2/compute/projects/{project_id}/${type}/nodes/{node_id}`));
}

/** The settings of every node. @throws Refusal */
export async function nodeMembers(): Promise<Field[]> {
  return fieldsOf(await bodySchema('put', '/v2/projects/{project_id}/nodes/{node_id}'));
}

/** The impairments of a direction, by kind. @throws Refusal */
export async function impairmentMembers(): Promise<{ name: string; fields: Field[] }[]> {
  const { properties } = await bodySchema('put', '/v2/projects/{project_id}/links/{link_id}');
  const direction = formOf(formOf(properties?.['impairments'])?.properties?.['forward']);
  return Object.entries(direction?.properties ?? {}).map(([name, schema]) => ({
    name,
    // Required fields first.
    fields: fieldsOf(formOf(schema) ?? {}).toSorted((one, other) => Number(other.required) - Number(one.required)),
  }));
}

/** The alternative that is not null. */
function formOf(schema: JsonSchema | undefined): JsonSchema | undefined {
  return schema?.anyOf?.find(({ type }) => type !== 'null') ?? schema;
}

/** The options of a link's capture. @throws Refusal */
export async function captureMembers(): Promise<Field[]> {
  return fieldsOf(await bodySchema('post', '/v2/projects/{project_id}/links/{link_id}/start_capture'));
}

/** @throws Refusal */
export async function hostMembers(): Promise<Field[]> {
  return fieldsOf(await bodySchema('post', '/v2/computes'));
}

/** A kind of template: a type and, for routers, a platform. */
export interface TemplateForm {
  type: string;
  platform: string | undefined;
  fields: Field[];
}

/** @throws Refusal */
export async function templateForms(): Promise<TemplateForm[]> {
  const { anyOf = [] } = await bodySchema('post', '/v2/templates');
  return anyOf.map((schema) => {
    const { template_type: type, platform } = schema.properties ?? {};
    return {
      type: String(type?.const),
      platform: platform?.const === undefined ? undefined : String(platform.const),
      fields: fieldsOf(schema),
    };
  });
}
