// The fields of a template's form, made of the form of its type and of the settings of its nodes.
import type { TemplateForm } from '../forms/document.ts';
import type { Field } from '../forms/schema.ts';

/** What identifies the form; it is chosen before, and not changed. */
const FIXED: readonly string[] = ['template_id', 'template_type', 'builtin'];
/** What no change touches. */
const OF_CREATION: readonly string[] = ['compute_id', 'platform'];

/** The form that a template belongs to. */
export function formOf(
  forms: readonly TemplateForm[],
  template: Readonly<Record<string, unknown>>,
): TemplateForm | undefined {
  const { template_type: type, platform } = template;
  return forms.find((form) => form.type === type && (form.platform === undefined || form.platform === platform));
}

/** What a form is called in the list of types. */
export function nameOf({ type, platform }: TemplateForm): string {
  return `${type.replaceAll('_', ' ')}${platform === undefined ? '' : ` ${platform}`}`;
}

export function keyOf({ type, platform }: TemplateForm): string {
  return platform === undefined ? type : `${type}/${platform}`;
}

/**
 * What people fill in.
 * @param hosts ids of the hosts that nodes can be made on
 */
export function templateFields(
  { fields, platform }: TemplateForm,
  settings: readonly Field[],
  hosts: readonly string[],
  isNew: boolean,
): Field[] {
  return fields.flatMap((field) => {
    if (FIXED.includes(field.name) || (!isNew && OF_CREATION.includes(field.name))) return [];
    if (field.name === 'platform' && platform !== undefined) return [];
    if (field.name === 'compute_id') {
      return { ...field, kind: 'choice', choices: hosts, required: true, nullable: false, byDefault: hosts[0] };
    }
    // Where only the compute knows the form of a value, its own field says it.
    const own = settings.find(({ name }) => name === field.name);
    if (field.kind === 'other') return own && own.kind !== 'other' ? { ...own, byDefault: field.byDefault } : [];
    return field;
  });
}

/** What a new template of this form begins with. */
export function beginning({ type, platform }: TemplateForm): Record<string, unknown> {
  return { template_type: type, ...(platform !== undefined && { platform }) };
}
