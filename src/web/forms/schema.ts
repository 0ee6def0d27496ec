// Turns a JSON schema of the API document into the fields of a form.

/** As in the document, with the extensions `x-order`, `x-group`, `x-unit`, `x-lines`, `x-images`, `x-effect`, `x-secret`, `x-absent`, `x-default`. */
export interface JsonSchema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  items?: JsonSchema;
  prefixItems?: readonly JsonSchema[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  pattern?: string;
  readOnly?: boolean;
  'x-order'?: number;
  'x-group'?: string;
  'x-unit'?: string;
  'x-secret'?: boolean;
  'x-absent'?: boolean;
  /** What a node has that is created without the setting. */
  'x-default'?: unknown;
  'x-lines'?: boolean;
  'x-images'?: string;
  'x-effect'?: Effect;
}

/** When a running node applies a change: at its next start, when it is recreated and restarted, or only once it is stopped. */
export type Effect = 'start' | 'recreate' | 'stopped';

export type FieldKind =
  | 'text'
  | 'lines'
  | 'integer'
  | 'number'
  | 'flag'
  | 'choice'
  /** Rows of fields. */
  | 'list'
  /** Strings, one per line. */
  | 'texts'
  /** Integers separated by spaces. */
  | 'integers'
  /** Unknown type: not shown. */
  | 'other';

export interface Field {
  name: string;
  kind: FieldKind;
  label: string;
  help: string;
  unit: string;
  /** Title of its group; empty for none. */
  group: string;
  required: boolean;
  nullable: boolean;
  /** An empty string is valid. */
  emptyAllowed: boolean;
  readOnly: boolean;
  /** Input is masked. */
  isSecret: boolean;
  /** A node with the default value has no such member. */
  mayBeAbsent: boolean;
  lowest: number | undefined;
  highest: number | undefined;
  pattern: string | undefined;
  byDefault: unknown;
  /** For `choice`. */
  choices: readonly string[];
  /** Suggestions; other text can be typed as well. */
  suggestions: readonly string[];
  /** Emulator whose images are suggested. */
  images: string | undefined;
  effect: Effect | undefined;
  /** For `list`: the fields of a row. */
  fields: readonly Field[];
  /** The field exists only in rows whose other field has one of these values. */
  onlyWith: { field: string; values: readonly string[] } | undefined;
}

/** The fields of an object schema, in its `x-order`. */
export function fieldsOf(schema: JsonSchema): Field[] {
  const last = Number.MAX_SAFE_INTEGER;
  const order = ([, one]: [string, JsonSchema], [, other]: [string, JsonSchema]): number =>
    (one['x-order'] ?? last) - (other['x-order'] ?? last);
  return Object.entries(schema.properties ?? {})
    .toSorted(order)
    .map(([name, property]) => fieldOf(name, property, schema.required?.includes(name) ?? false));
}

function fieldOf(name: string, described: JsonSchema, required: boolean): Field {
  const forms = described.anyOf ?? [described];
  const usual = described['x-default'];
  // Null is no value of a setting that every node has; the server takes it from old clients.
  const nullable = usual === undefined && forms.some(({ type }) => type === 'null');
  // The first alternative is the current one; the others are for old clients.
  const schema = described.anyOf ? (forms.find(({ type }) => type !== 'null') ?? {}) : described;
  const items = schema.items ?? schema.prefixItems?.[0];
  return {
    name,
    kind: kindOf(schema, items, described['x-lines'] ?? false),
    label: described.title ?? name.replaceAll('_', ' '),
    help: described.description ?? '',
    unit: described['x-unit'] ?? '',
    group: described['x-group'] ?? '',
    required,
    nullable,
    emptyAllowed: !schema.minLength,
    readOnly: described.readOnly ?? false,
    isSecret: described['x-secret'] ?? false,
    mayBeAbsent: described['x-absent'] ?? false,
    lowest: bound(schema.minimum),
    highest: bound(schema.maximum),
    pattern: schema.pattern,
    byDefault: described.default ?? (described['x-absent'] ? usual : undefined),
    choices: choicesOf(schema),
    suggestions: [],
    images: described['x-images'],
    effect: described['x-effect'],
    fields: items ? rowFields(items) : [],
    onlyWith: undefined,
  };
}

function kindOf(schema: JsonSchema, items: JsonSchema | undefined, lines: boolean): FieldKind {
  if (schema.enum !== undefined || schema.const !== undefined) return 'choice';
  if (schema.type === 'boolean') return 'flag';
  if (schema.type === 'integer' || schema.type === 'number') return schema.type;
  if (schema.type === 'string') return lines ? 'lines' : 'text';
  if (schema.type !== 'array' || !items) return 'other';
  if (items.properties || items.oneOf) return 'list';
  return items.type === 'integer' ? 'integers' : 'texts';
}

function choicesOf({ enum: several, const: one }: JsonSchema): string[] {
  if (one !== undefined) return [String(one)];
  return (several ?? []).map(String);
}

/** Undefined for limits that only state the range of exact integers. */
function bound(value: number | undefined): number | undefined {
  return value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value;
}

/** The fields of a row. If a member's value selects between several row schemas: the fields of all of them. */
function rowFields(items: JsonSchema): Field[] {
  if (!items.oneOf) return fieldsOf(items);
  const forms = items.oneOf;
  const by = Object.keys(forms[0]?.properties ?? {}).find((name) =>
    forms.every(({ properties }) => properties?.[name]?.const !== undefined),
  );
  if (by === undefined) return fieldsOf(forms[0] ?? {});
  const value = (form: JsonSchema): string => String(form.properties?.[by]?.const);
  const all = new Map<string, Field>();
  for (const form of forms) {
    for (const field of fieldsOf(form)) {
      const having = forms.filter(({ properties }) => properties?.[field.name]);
      const onlyWith = having.length < forms.length ? { field: by, values: having.map(value) } : undefined;
      if (!all.has(field.name)) all.set(field.name, { ...field, onlyWith });
    }
  }
  all.set(by, { ...all.get(by)!, choices: forms.map(value) });
  return [...all.values()];
}

/** Whether a row has this field. */
export function isWanted(field: Field, row: Readonly<Record<string, unknown>>): boolean {
  return !field.onlyWith || field.onlyWith.values.includes(String(row[field.onlyWith.field] ?? ''));
}
