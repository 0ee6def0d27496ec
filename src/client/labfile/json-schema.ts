// The lab file's JSON Schema for editors, made from the schemas that check files.
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { NODE_KINDS } from '../../api/kinds/kinds.ts';
import { settingWords } from '../../api/kinds/setting-words.ts';
import { propertyEntries } from './node-settings.ts';
import { LabText } from './schema.ts';

/** The first line of a file, for editors with a YAML language server. */
export const schemaHint = (place: string): string => `# yaml-language-server: $schema=${place}`;

/** The name of the file that `labwired lab schema` writes, and that docs/ has. */
export const SCHEMA_FILE = 'lab.schema.json';

const inJson = (schema: v.GenericSchema): JsonSchema =>
  toJsonSchema(schema, {
    target: 'draft-07',
    typeMode: 'input',
    errorMode: 'ignore',
    // Objects with unknown members.
    overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? { type: 'object' } : undefined),
  });

const refer = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });
const VARIABLE = 'variable';

/** The schema and required members of a node's `properties`, by node type. */
function propertySchemas(): { type: string; schema: JsonSchema; required: string[] }[] {
  return NODE_KINDS.flatMap(({ type }) => {
    const entries = propertyEntries(type);
    if (!entries) return [];
    const { $schema: _draft, required = [], properties = {}, ...rest } = inJson(v.strictObject(entries));
    // Any value may be a variable, which is text.
    const members = Object.entries(properties).map(([name, schema]) => {
      const isText = typeof schema === 'object' && schema.type === 'string' && !schema.enum && !schema.pattern;
      const { title, description, unit } = settingWords(type, name) ?? {};
      const said = [title, unit && `in ${unit}`, description].filter(Boolean).join('; ');
      const form = isText ? (schema as JsonSchema) : { anyOf: [schema, refer(VARIABLE)] };
      return [name, { ...form, ...(said !== '' && { description: said }) }] as const;
    });
    return [{ type, schema: { ...rest, properties: Object.fromEntries(members) }, required }];
  });
}

/** The node schema with its type's `properties`; with a template those of any type. */
function withProperties(node: JsonSchema, types: ReturnType<typeof propertySchemas>): JsonSchema {
  const ofType = types.map(
    ({ type, required }): JsonSchema => ({
      if: { properties: { type: { const: type } }, required: ['type'] },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
      then: {
        properties: { properties: { allOf: [refer(type)], ...(required.length > 0 && { required }) } },
        ...(required.length > 0 && { required: ['properties'] }),
      },
    }),
  );
  const ofTemplate: JsonSchema = {
    if: { required: ['template'] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
    then: { properties: { properties: { anyOf: types.map(({ type }) => refer(type)) } } },
  };
  return { ...node, allOf: [...ofType, ofTemplate] };
}

/** The JSON Schema (draft-07, which all editors support) as text. */
export function labSchemaText(): string {
  const { $schema, properties, ...rest } = inJson(LabText);
  const types = propertySchemas();
  const nodes = properties!['nodes'] as JsonSchema;
  const node = nodes.additionalProperties as JsonSchema;
  const variable: JsonSchema = { type: 'string', pattern: '\\$\\{.+\\}', description: 'A variable of the file' };
  const whole = {
    $schema,
    title: 'A lab of Labwire as text',
    description: 'docs/labs-as-text.md says what it means',
    ...rest,
    properties: { ...properties, nodes: { ...nodes, additionalProperties: withProperties(node, types) } },
    definitions: { [VARIABLE]: variable, ...Object.fromEntries(types.map(({ type, schema }) => [type, schema])) },
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}
