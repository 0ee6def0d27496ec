// Templates: the bodies and the routes.
import * as v from 'valibot';
import { nodeKind } from '../kinds/kinds.ts';
import { AnyCategory, type Category, commonMembers } from '../kinds/template-members.ts';
import type { NodeObject, TemplateObject } from '../objects.ts';
import { AnyObject, Integer, NODE_TYPES, Text, Uuid } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

/** Types for templates of users. */
export const TEMPLATE_TYPES = NODE_TYPES.filter((type) => !nodeKind(type).template.builtinOnly);

const members = {
  template_id: v.optional(Uuid),
  default_name_format: v.optional(Text),
  symbol: v.optional(Text),
  category: v.optional(AnyCategory),
  builtin: v.optional(v.boolean()),
};

export const TemplateCreate = v.looseObject({
  ...members,
  template_type: v.picklist(TEMPLATE_TYPES),
  name: Text,
  compute_id: v.nullable(v.string()),
});

export const TemplateUpdate = v.pipe(
  AnyObject, // an array would pass as an object without members
  v.looseObject({
    ...members,
    template_type: v.optional(v.picklist(TEMPLATE_TYPES)),
    name: v.optional(Text),
    compute_id: v.optional(v.nullable(v.string())),
  }),
);

/** Where a template is instantiated in the scene, and members that it leaves open. */
export const TemplateUsage = v.strictObject({
  x: Integer,
  y: Integer,
  name: v.optional(v.nullable(v.string())),
  compute_id: v.optional(v.nullable(v.string())),
});
export type TemplateUsage = v.InferOutput<typeof TemplateUsage>;

/** A template: these members and those of its type. Never changed, only replaced. */
export interface Template {
  readonly template_id: string;
  readonly template_type: string;
  readonly name: string;
  /** The compute for its nodes; null if the instantiation names it, or if there is none. */
  readonly compute_id: string | null;
  /** With `{name}` for the template's name and `{0}` for a number. */
  readonly default_name_format: string;
  readonly symbol: string;
  readonly category: Category;
  readonly builtin: boolean;
  readonly [setting: string]: unknown;
}

/** All members of a type; others are rejected, missing ones get their defaults. */
export type TypeSchema = v.GenericSchema<unknown, Record<string, unknown>> & { entries: v.ObjectEntries };

/** The schemas of all templates: one per type, and one per platform of routers. */
export function templateForms(): TypeSchema[] {
  return TEMPLATE_TYPES.flatMap((type) => {
    const { members, variants, nameFormat, symbol, category } = nodeKind(type).template;
    const form = (own: v.ObjectEntries): TypeSchema => {
      const { template_id, builtin, ...common } = commonMembers(nameFormat, symbol, category);
      const identity = { template_id: v.optional(template_id), builtin: v.optional(builtin) };
      return v.strictObject({ ...common, ...identity, ...own, template_type: v.literal(type) });
    };
    if (variants) {
      return Object.entries(variants.members).map(([name, own]) => form({ ...own, [variants.by]: v.literal(name) }));
    }
    return members ? [form(members)] : [];
  });
}

// biome-ignore format: a table
export const TEMPLATE_ROUTES = {
  'GET /v2/templates': { access: 'read', answer: answers<TemplateObject[]>(), summary: 'List templates' },
  'POST /v2/templates':
    { privilege: 'Template.Allocate', body: TemplateCreate, settings: true, forms: templateForms, status: 201,
      answer: answers<TemplateObject>(), summary: 'Create a template' },
  'GET /v2/templates/{template_id}':
    { access: 'read', answer: answers<TemplateObject>(), summary: 'Read a template', errors: [304] },
  'PUT /v2/templates/{template_id}':
    { privilege: 'Template.Modify', body: TemplateUpdate, settings: true, answer: answers<TemplateObject>(),
      summary: 'Update a template' },
  'DELETE /v2/templates/{template_id}': { privilege: 'Template.Allocate', status: 204, summary: 'Delete a template' },
  'POST /v2/templates/{template_id}/duplicate':
    { privilege: 'Template.Allocate', status: 201, answer: answers<TemplateObject>(), summary: 'Duplicate a template' },
  'POST /v2/projects/{project_id}/templates/{template_id}':
    { access: 'change', privilege: 'Node.Allocate', body: TemplateUsage, status: 201, answer: answers<NodeObject>(),
      summary: 'Create an instance of a template in a project' },
} as const satisfies RouteDefinitions;
