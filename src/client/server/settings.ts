// `--set NAME=VALUE` for nodes, templates and labs, checked with the server's own API document.

import { WrongUsage } from '../../commands/wrong-usage.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import type { Api } from './api.ts';

/** The part of JSON Schema that the description uses for members. */
interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  readOnly?: boolean;
  properties?: Record<string, Schema>;
}

interface Description {
  paths: Record<string, Record<string, { requestBody?: { content?: Record<string, { schema?: Schema }> } }>>;
}

type Members = Readonly<Record<string, Schema>>;

export interface Settable {
  /** Such as `nodes of this type`, for messages. */
  of: string;
  /** Of the request itself. */
  members: Members;
  /** Of nodes of one type alone, in `properties` of the API. */
  properties: Members;
}

/** The flag. */
export const SET = { value: 'NAME=VALUE', many: true, summary: 'a setting, such as ram=512; repeatable' } as const;

/** Members that have commands and flags of their own, or are the server's. */
const IDENTITY = [
  'node_id',
  'node_type',
  'template_id',
  'template_type',
  'compute_id',
  'project_id',
  'name',
  'builtin',
];
const OF_NODES = [...IDENTITY, 'properties', 'label', 'ports', 'x', 'y'];

const KIND_PATH = /^\/v2\/compute\/projects\/\{project_id\}\/(\w+)\/nodes$/;

/**
 * Settings of a node.
 * @throws WrongUsage if the server does not have the type
 */
export async function nodeSettings(api: Api, type: string): Promise<Settable> {
  const [ofNode, ofKind] = ['/v2/projects/{project_id}/nodes', `/v2/compute/projects/{project_id}/${type}/nodes`];
  // The whole document has some megabytes, so only two paths are requested.
  const [node, kind] = await Promise.all([ofNode, ofKind].map((path) => pathsOf(api, path)));
  if (!kind?.[ofKind]) throw new WrongUsage(`--type "${type}": ${suggestion(type, await typesOf(api))}`);
  const own = bodyOf(kind[ofKind], 'post').properties;
  // The controller's form has a console for all types, but a hub rejects one.
  const missing = own && !('console' in own) ? ['console'] : [];
  const members = without(bodyOf(node?.[ofNode], 'post').properties, [...OF_NODES, ...missing]);
  const properties = without(own, [...OF_NODES, ...Object.keys(members)]);
  return { of: 'nodes of this type', members, properties };
}

/**
 * Settings of a template. Router platforms have different ones: all are accepted until `platform` is known.
 * @throws WrongUsage for a type without templates
 */
export async function templateSettings(api: Api, type: string, platform?: unknown): Promise<Settable> {
  const path = '/v2/templates';
  const forms = bodyOf((await pathsOf(api, path))[path], 'post').anyOf ?? [];
  const typeOf = ({ properties }: Schema) => String(properties?.['template_type']?.const);
  const ofType = forms.filter((form) => typeOf(form) === type);
  if (ofType.length === 0) {
    throw new WrongUsage(`--type "${type}": ${suggestion(type, [...new Set(forms.map(typeOf))].toSorted())}`);
  }
  const isMeant = ({ properties }: Schema) => (properties?.['platform']?.const ?? platform) === platform;
  const meant = ofType.filter(isMeant);
  const properties = (meant.length > 0 ? meant : ofType).map((form) => form.properties ?? {});
  const members = without(Object.assign({}, ...properties) as Members, IDENTITY);
  const platforms = ofType.flatMap((form) => form.properties?.['platform']?.const ?? []);
  if (platforms.length > 0) members['platform'] = { enum: platforms };
  return { of: `templates of type ${type}`, members, properties: {} };
}

export async function labSettings(api: Api): Promise<Settable> {
  const path = '/v2/projects/{project_id}';
  const { properties } = bodyOf((await pathsOf(api, path))[path], 'put');
  return { of: 'labs', members: without(properties, [...IDENTITY, 'path']), properties: {} };
}

async function pathsOf(api: Api, path: string): Promise<Description['paths']> {
  return (await api.get<Description>(`/v2/openapi.json?${new URLSearchParams({ path })}`)).paths;
}

async function typesOf(api: Api): Promise<string[]> {
  const { paths } = await api.get<Description>('/v2/openapi.json');
  return Object.keys(paths)
    .flatMap((path) => KIND_PATH.exec(path)?.[1] ?? [])
    .toSorted();
}

function bodyOf(path: Description['paths'][string] | undefined, method: string): Schema {
  return path?.[method]?.requestBody?.content?.['application/json']?.schema ?? {};
}

/** Those that a client may say. */
function without(members: Members = {}, names: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(members).filter(([name, { readOnly }]) => readOnly !== true && !names.includes(name)),
  );
}

/**
 * The request members for `NAME=VALUE` arguments.
 * @throws WrongUsage with the nearest name or the expected value
 */
export function settingsBody(given: readonly string[], { of, members, properties }: Settable): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const word of given) {
    const [name, value] = pairOf('--set', word, 'ram=512');
    const isMember = Object.hasOwn(members, name);
    const schema = isMember ? members[name] : Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined) {
      const names = [...Object.keys(properties), ...Object.keys(members)];
      throw new WrongUsage(`--set ${name}: ${of} have no such setting; ${suggestion(name, names)}`);
    }
    (isMember ? body : own)[name] = meaning(name, value, schema);
  }
  return Object.keys(own).length === 0 ? body : { ...body, properties: own };
}

/** `NAME=VALUE` in two. @throws WrongUsage with an example */
export function pairOf(flag: string, word: string, example: string): [name: string, value: string] {
  const at = word.indexOf('=');
  if (at < 1) throw new WrongUsage(`${flag} "${word}": write NAME=VALUE, such as ${example}`);
  return [word.slice(0, at), word.slice(at + 1)];
}

/** A text as the value that the schema asks for; its bounds are the server's to judge. */
function meaning(name: string, text: string, schema: Schema): unknown {
  const forms = schema.anyOf ?? [schema];
  const allowed = forms.flatMap((form) => form.enum ?? (form.const === undefined ? [] : [form.const]));
  if (allowed.length > 0) {
    const found = allowed.find((one) => String(one) === text);
    if (found !== undefined) return found;
    throw new WrongUsage(`--set ${name}="${text}": write ${allowed.map(String).join(', ')}`);
  }
  const types = forms.flatMap(({ type }) => type ?? []);
  if (types.includes('null') && (text === '' || text === 'null')) return null;
  if (types.includes('string') || types.length === 0) return text;
  const value = parsed(text);
  if (types.some((type) => isOf(type, value))) return value;
  const wanted = types.filter((type) => type !== 'null').map((type) => WORDS[type] ?? type);
  throw new WrongUsage(`--set ${name}="${text}": write ${wanted.join(' or ')}`);
}

const WORDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list in JSON, such as ["one", "two"]',
  object: 'an object in JSON, such as {"name": "value"}',
};

/** Parses JSON; undefined if invalid. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
