// The fields of a template's form, from the form of its type and the settings of its nodes.
import type { TemplateForm } from '../forms/document.ts';
import type { Field } from '../forms/schema.ts';

/** Members that select the form; chosen before and never changed. */
const FIXED: readonly string[] = ['template_id', 'template_type', 'builtin'];

/** The form of a template. */
export function formOf(
  forms: readonly TemplateForm[],
  template: Readonly<Record<string, unknown>>,
): TemplateForm | undefined {
  const { template_type: type, platform } = template;
  return forms.find((form) => form.type === type && (form.platform === undefined || form.platform === platform));
}

export function keyOf({ type, platform }: TemplateForm): string {
  return platform === undefined ? type : `${type}/${platform}`;
}

/**
 * The editable fields.
 * @param hosts ids of the hosts that can run the nodes
 */
export function templateFields(
  { fields, platform }: TemplateForm,
  settings: readonly Field[],
  hosts: readonly string[],
  isNew: boolean,
): Field[] {
  return fields.flatMap((field) => {
    // The platform of a router selects its form.
    if (FIXED.includes(field.name) || (field.name === 'platform' && platform !== undefined)) return [];
    if (field.name === 'compute_id') {
      if (!isNew) return [];
      return { ...field, kind: 'choice', choices: hosts, required: true, nullable: false, byDefault: hosts[0] };
    }
    // If only the compute knows the type of a value, use its field.
    const own = settings.find(({ name }) => name === field.name);
    if (field.kind === 'other') return own && own.kind !== 'other' ? { ...own, byDefault: field.byDefault } : [];
    return field;
  });
}

/** Initial values of a new template. */
export function beginning({ type, platform }: TemplateForm): Record<string, unknown> {
  return { template_type: type, ...(platform !== undefined && { platform }) };
}
