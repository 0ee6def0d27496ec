// Members of every template, whatever its type (as in release 2.2.57), and the body of an instantiation.
import * as v from 'valibot';
import { nodeKind } from '../../api/kinds/kinds.ts';
import { AnyCategory, type Category } from '../../api/kinds/template-members.ts';
import { AnyObject, Integer, NODE_TYPES, Text, Uuid } from '../../api/vocabulary.ts';

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
  /** A node type. */
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
