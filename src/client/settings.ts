// `--set NAME=VALUE` of nodes: what the server's own description of its API says about the names, and what the values mean by it.
import type { Api } from './api.ts';
import { suggestion } from './nearest.ts';
import { WrongUsage } from './wrong-usage.ts';

/** The part of JSON Schema that the description uses for members of nodes. */
interface Schema {
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  readOnly?: boolean;
  properties?: Record<string, Schema>;
}

interface Description {
  paths: Record<string, Record<string, { requestBody?: { content?: Record<string, { schema?: Schema }> } }>>;
}

type Members = Readonly<Record<string, Schema>>;

/** What can be said about nodes of a type. */
export interface Settable {
  /** Of every node. */
  node: Members;
  /** Of this type alone, in `properties` of the API. */
  properties: Members;
}

/** Have commands and flags of their own, or are the server's. */
const OTHERWISE = [
  'node_id',
  'node_type',
  'compute_id',
  'project_id',
  'properties',
  'label',
  'ports',
  'name',
  'x',
  'y',
];

const KIND_PATH = /^\/v2\/compute\/projects\/\{project_id\}\/(\w+)\/nodes$/;

/** @throws WrongUsage for a type that the server does not have */
export async function settableOf(api: Api, type: string): Promise<Settable> {
  const [ofNode, ofKind] = ['/v2/projects/{project_id}/nodes', `/v2/compute/projects/{project_id}/${type}/nodes`];
  // The whole description has some megabytes: two of its paths are asked for.
  const [node, kind] = await Promise.all([ofNode, ofKind].map((path) => pathsOf(api, path)));
  if (!kind?.[ofKind]) throw new WrongUsage(`--type "${type}": ${suggestion(type, await typesOf(api))}`);
  const members = without(membersOf(node?.[ofNode]), OTHERWISE);
  const properties = without(membersOf(kind[ofKind]), [...OTHERWISE, ...Object.keys(members)]);
  return { node: members, properties };
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

function membersOf(path: Description['paths'][string] | undefined): Members {
  return path?.['post']?.requestBody?.content?.['application/json']?.schema?.properties ?? {};
}

/** Those that a client may say. */
function without(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(
    Object.entries(members).filter(([name, { readOnly }]) => readOnly !== true && !names.includes(name)),
  );
}

/** The members of a request that these `NAME=VALUE` mean. @throws WrongUsage with the nearest name, or what would fit */
export function settingsBody(given: readonly string[], { node, properties }: Settable): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const word of given) {
    const at = word.indexOf('=');
    if (at < 1) throw new WrongUsage(`--set "${word}": write NAME=VALUE, such as ram=512`);
    const [name, value] = [word.slice(0, at), word.slice(at + 1)];
    const schema = node[name] ?? properties[name];
    if (schema === undefined) {
      const names = [...Object.keys(properties), ...Object.keys(node)];
      throw new WrongUsage(`--set ${name}: nodes of this type have no such setting; ${suggestion(name, names)}`);
    }
    (name in node ? body : own)[name] = meaning(name, value, schema);
  }
  return Object.keys(own).length === 0 ? body : { ...body, properties: own };
}

/** A text as the value that the schema asks for; its bounds are the server's to judge. */
function meaning(name: string, text: string, schema: Schema): unknown {
  const forms = schema.anyOf ?? [schema];
  const allowed = forms.flatMap((form) => form.enum ?? []);
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

function parsed(text: string): unknown {
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
