// The members that the schemas of several template types share.
import * as v from 'valibot';
import { Integer, Text, Uuid } from '../../store/vocabulary.ts';
import { type CATEGORIES, Category, TEMPLATE_TYPES } from './schema.ts';

export const flag = (byDefault: boolean) => v.optional(v.boolean(), byDefault);
export const text = (byDefault = '') => v.optional(v.string(), byDefault);
export const integer = (byDefault: number) => v.optional(Integer, byDefault);

/** Identity, looks and place of a template, with the defaults of its type. */
export function commonMembers(format: string, symbol: string, category: (typeof CATEGORIES)[number]) {
  return {
    template_id: Uuid,
    template_type: v.picklist(TEMPLATE_TYPES),
    name: Text,
    compute_id: v.nullable(v.string()),
    builtin: v.boolean(),
    default_name_format: v.optional(Text, format),
    symbol: v.optional(Text, symbol),
    category: v.optional(Category, category),
  };
}

export const consoleMembers = {
  console_type: v.optional(v.picklist(['telnet', 'none']), 'telnet'),
  console_auto_start: flag(false),
};
