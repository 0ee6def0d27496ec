// Defines a property of a kind of node once: its schemas in requests and templates, its default, and when a change takes effect.
import * as v from 'valibot';
import { CustomAdapter, Integer, NodeStatus, Text, Uuid } from '../vocabulary.ts';

/** When a running node takes on a change: at once, at its next start, by being created again, or only after a stop. */
export type Effect = 'live' | 'start' | 'recreate' | 'stopped';

interface Facts {
  /** Schema of a template's member, with its default. */
  readonly template?: v.GenericSchema;
  /** The effect of its kind unless given. */
  readonly effect?: Effect;
  /** Clients may send it back; it changes nothing. */
  readonly readOnly?: true;
  /** The host chooses it; the exported file of a lab leaves it out. */
  readonly ofHost?: true;
}

export interface Property extends Facts {
  /** Schemas of the member in a creation and in a change; without one the body does not have it. */
  readonly create?: v.GenericSchema | undefined;
  readonly update?: v.GenericSchema | undefined;
  /** Of a node that is created without it; a function makes it from the id of the node. */
  readonly node?: unknown;
}

/** By name, in the order of the OpenAPI document. */
export type Properties = Readonly<Record<string, Property>>;

type Optional<Schema extends v.GenericSchema> = v.OptionalSchema<Schema, undefined>;
/** `update` where a change takes something else than a creation. */
type Given<Node, Update> = Facts & { readonly node?: Node; readonly update?: Update };

/** A property that clients may leave out. */
export function p<Create extends v.GenericSchema, Node = undefined, Update extends v.GenericSchema = Create>(
  schema: Create,
  { update, node, ...facts }: Given<Node, Update> = {},
): Facts & { create: Optional<Create>; update: Optional<Update>; node: Node } {
  const changed = (update ?? schema) as Update;
  return { ...facts, create: v.optional(schema), update: v.optional(changed), node: node as Node };
}

/** A property without which no node is created. */
export function required<Create extends v.GenericSchema, Update extends v.GenericSchema = Create>(
  schema: Create,
  { update, ...facts }: Given<never, Update> = {},
): Facts & { create: Create; update: Optional<Update> } {
  return { ...facts, create: schema, update: v.optional((update ?? schema) as Update) };
}

/** A property that only a creation takes. */
export function atCreation<Create extends v.GenericSchema>(
  schema: Create,
  facts: Facts = {},
): Facts & { create: Optional<Create>; update: undefined } {
  return { ...facts, create: v.optional(schema), update: undefined };
}

/** A read-only member that clients may send back with a change. */
export function sentBack<Update extends v.GenericSchema>(
  schema: Update,
): Facts & { create: undefined; update: Optional<Update> } {
  return { readOnly: true, create: undefined, update: v.optional(schema) };
}

/** A member that only templates have. */
export function ofTemplate(template: v.GenericSchema): Facts & { create: undefined; update: undefined } {
  return { template, create: undefined, update: undefined };
}

/** How the console is reached: by default a node and a template may differ. */
export function consoleTypes<const Types extends readonly string[]>(
  types: Types,
  defaults: { node: NoInfer<Types[number]>; template?: NoInfer<Types[number]> },
  effect: Effect = 'stopped',
) {
  const schema = v.picklist(types);
  const create = v.optional(schema, defaults.node as v.InferInput<typeof schema>);
  const template = v.optional(schema, (defaults.template ?? defaults.node) as v.InferInput<typeof schema>);
  return { create, update: v.optional(schema), template, node: defaults.node, effect } as const;
}

type CreateEntries<Rows extends Properties> = {
  [Name in keyof Rows as Rows[Name]['create'] extends v.GenericSchema ? Name : never]: Extract<
    Rows[Name]['create'],
    v.GenericSchema
  >;
};
type UpdateEntries<Rows extends Properties> = {
  [Name in keyof Rows as Rows[Name]['update'] extends v.GenericSchema ? Name : never]: Extract<
    Rows[Name]['update'],
    v.GenericSchema
  >;
};

export function createBody<Rows extends Properties>(rows: Rows): v.StrictObjectSchema<CreateEntries<Rows>, undefined> {
  return v.strictObject(schemasOf(rows, 'create') as CreateEntries<Rows>);
}

export function updateBody<Rows extends Properties>(rows: Rows): v.StrictObjectSchema<UpdateEntries<Rows>, undefined> {
  return v.strictObject(schemasOf(rows, 'update') as UpdateEntries<Rows>);
}

export function templateMembers(rows: Properties): v.ObjectEntries {
  return schemasOf(rows, 'template');
}

function schemasOf(rows: Properties, body: 'create' | 'update' | 'template'): v.ObjectEntries {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([name, { [body]: schema }]) => (schema ? [[name, schema]] : [])),
  );
}

type Value<Row extends Property> =
  | NonNullable<v.InferOutput<Extract<Row['update'], v.GenericSchema>>>
  | Extract<Row['node'], null>;

/** A node's properties that have a default. */
export type SettingsOf<Rows extends Properties> = {
  -readonly [Name in keyof Rows as Rows[Name]['node'] extends undefined ? never : Name]: Value<Rows[Name]>;
};

/** The settings of a node that is created without any. */
export function defaultsOf<Rows extends Properties>(rows: Rows, nodeId: string): SettingsOf<Rows> {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([name, { node }]) => {
      if (node === undefined) return [];
      return [[name, typeof node === 'function' ? (node(nodeId) as unknown) : node]];
    }),
  ) as SettingsOf<Rows>;
}

/** Identifier of a new node. Releases before 1.4 numbered their nodes; such a node gets a new identifier. */
export const NodeIdOrNumber = v.union([
  Uuid,
  v.pipe(
    Integer,
    v.transform(() => undefined),
  ),
]);

/** The members that every kind has; a change does not have the `node_id` unless `identity` is there, too. */
export const nameAndNumber = {
  name: required(Text, { update: v.nullable(Text), effect: 'live' }),
  node_id: atCreation(NodeIdOrNumber, { readOnly: true }),
};

/** Of kinds whose clients may send the whole answer back with a change. */
export const identity = {
  name: required(Text, { effect: 'live' }),
  node_id: p(NodeIdOrNumber, { update: Uuid, readOnly: true }),
  project_id: sentBack(Uuid),
  status: sentBack(NodeStatus),
};

/** The same for kinds whose nodes never had numbers as ids. */
export const identityByUuid = { ...identity, node_id: p(Uuid, { readOnly: true }) };

export const usage = { usage: p(v.string(), { node: '', template: v.optional(v.string(), ''), effect: 'live' }) };

export const customAdapterRows = {
  custom_adapters: p(v.array(CustomAdapter), { node: [], template: v.optional(v.array(CustomAdapter), []) }),
};
