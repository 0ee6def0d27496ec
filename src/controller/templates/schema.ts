// What every template has, whatever its type (as in release 2.2.57), and what instantiation takes.
import * as v from 'valibot';
import { nodeKind } from '../../store/node-kinds/kinds.ts';
import { AnyCategory, type Category } from '../../store/node-kinds/template-members.ts';
import { AnyObject, Integer, NODE_TYPES, Text, Uuid } from '../../store/vocabulary.ts';

/** Types that a template can be made of. */
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

/** Where in the scene a template becomes a node, and what it leaves open. */
export const TemplateUsage = v.strictObject({
  x: Integer,
  y: Integer,
  name: v.optional(v.nullable(v.string())),
  compute_id: v.optional(v.nullable(v.string())),
});
export type TemplateUsage = v.InferOutput<typeof TemplateUsage>;

/** A template: the members below, and beside them those of its type. Never changed, only replaced. */
export interface Template {
  readonly template_id: string;
  /** A node type. */
  readonly template_type: string;
  readonly name: string;
  /** The compute that its nodes are made on; null if that is said at instantiation, or nowhere. */
  readonly compute_id: string | null;
  /** With `{name}` for the template's name and `{0}` for a number. */
  readonly default_name_format: string;
  readonly symbol: string;
  readonly category: Category;
  readonly builtin: boolean;
  readonly [setting: string]: unknown;
}
