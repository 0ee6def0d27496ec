// The built-in templates (as in release 2.2.57).
import { NODE_KINDS } from '../../api/kinds/kinds.ts';
import type { Template } from '../../api/routes/templates.ts';

export const BUILTIN_TEMPLATES: readonly Template[] = NODE_KINDS.flatMap(({ type, template }) => {
  const { nameFormat, symbol, category, builtin } = template;
  if (builtin === undefined) return [];
  return {
    template_id: builtin.id,
    template_type: type,
    name: builtin.name,
    default_name_format: nameFormat,
    category,
    symbol: `:/symbols/${symbol}.svg`,
    compute_id: null,
    builtin: true,
    ...builtin.settings,
  };
});
