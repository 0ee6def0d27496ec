// The schemas of templates, by their type: what every template has and what its kind of node adds (as in release 2.2.57).
import * as v from 'valibot';
import { type Schema, validated } from '../../http/app/validation.ts';
import type { TemplateFacts } from '../../store/node-kinds/kind.ts';
import { findNodeKind, nodeKind } from '../../store/node-kinds/kinds.ts';
import { commonMembers } from '../../store/node-kinds/template-members.ts';
import { TEMPLATE_TYPES } from './schema.ts';

/** All members of a type; others are refused, missing ones get their defaults. */
type TypeSchema = v.GenericSchema<unknown, Record<string, unknown>> & { entries: v.ObjectEntries };

/**
 * The schema of the type that these settings name, and, of a router, of its platform; undefined for types that have no
 * settings of their own to keep.
 * @throws Failure `invalid` for a router without a known platform
 */
export function typeSchema(settings: Readonly<Record<string, unknown>>): TypeSchema | undefined {
  const kind = findNodeKind(String(settings['template_type']));
  const members = kind && ownMembers(kind.template, settings);
  if (members === undefined) return undefined;
  const { nameFormat, symbol, category } = kind!.template;
  return v.strictObject({ ...commonMembers(nameFormat, symbol, category), ...members });
}

/** What a template may be made of: a schema for each type, and for each platform of routers. */
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

function ownMembers(
  { members, variants }: TemplateFacts,
  settings: Readonly<Record<string, unknown>>,
): v.ObjectEntries | undefined {
  if (variants === undefined) return members;
  const chosen = v.looseObject({ [variants.by]: v.picklist(Object.keys(variants.members)) });
  return variants.members[validated(chosen, settings)[variants.by]!];
}

/** The same, but every member may be missing, and members that the type does not have pass. */
export function partialTypeSchema(settings: Readonly<Record<string, unknown>>): Schema {
  return v.looseObject(v.partial(v.object(typeSchema(settings)?.entries ?? {})).entries);
}
