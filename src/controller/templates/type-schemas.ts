// The schemas of templates by type: common members and those of the kind of node (as in release 2.2.57).
import * as v from 'valibot';
import type { TemplateFacts } from '../../api/kinds/kind.ts';
import { findNodeKind } from '../../api/kinds/kinds.ts';
import { commonMembers } from '../../api/kinds/template-members.ts';
import type { Schema } from '../../api/routes/definition.ts';
import type { TypeSchema } from '../../api/routes/templates.ts';
import { validated } from '../../http/app/validation.ts';

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
