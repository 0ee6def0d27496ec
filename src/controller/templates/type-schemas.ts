// The schemas of templates by type: common members and those of the kind of node (as in release 2.2.57).
import * as v from 'valibot';
import type { TemplateFacts } from '../../api/kinds/kind.ts';
import { findNodeKind, nodeKind } from '../../api/kinds/kinds.ts';
import { commonMembers } from '../../api/kinds/template-members.ts';
import { type Schema, validated } from '../../http/app/validation.ts';
import { TEMPLATE_TYPES } from './schema.ts';

/** All members of a type; others are rejected, missing ones get their defaults. */
type TypeSchema = v.GenericSchema<unknown, Record<string, unknown>> & { entries: v.ObjectEntries };

/**
 * The schema for the type (and, of a router, the platform) of these settings; undefined for types without settings.
 * @throws Failure `invalid` for a router without a known platform
 */
export function typeSchema(settings: Readonly<Record<string, unknown>>): TypeSchema | undefined {
  const kind = findNodeKind(String(settings['template_type']));
  const members = kind && ownMembers(kind.template, settings);
  if (members === undefined) return undefined;
  const { nameFormat, symbol, category } = kind!.template;
  return v.strictObject({ ...commonMembers(nameFormat, symbol, category), ...members });
}

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

function ownMembers(
  { members, variants }: TemplateFacts,
  settings: Readonly<Record<string, unknown>>,
): v.ObjectEntries | undefined {
  if (variants === undefined) return members;
  const chosen = v.looseObject({ [variants.by]: v.picklist(Object.keys(variants.members)) });
  return variants.members[validated(chosen, settings)[variants.by]!];
}

/** As `typeSchema`, but all members are optional and unknown members pass. */
export function partialTypeSchema(settings: Readonly<Record<string, unknown>>): Schema {
  return v.looseObject(v.partial(v.object(typeSchema(settings)?.entries ?? {})).entries);
}
