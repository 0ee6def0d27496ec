// The format for editors: a JSON Schema of the very schema that files are checked by.
import { toJsonSchema } from '@valibot/to-json-schema';
import { LabText } from './schema.ts';

/** The first line of a file, for the editors that know YAML's language server. */
export const schemaHint = (place: string): string => `# yaml-language-server: $schema=${place}`;

/** The name of the file that `labwired lab schema` writes, and that docs/ has. */
export const SCHEMA_FILE = 'lab.schema.json';

/** The JSON Schema (draft-07, which all editors know) as text. */
export function labSchemaText(): string {
  const schema = toJsonSchema(LabText, {
    target: 'draft-07',
    typeMode: 'input',
    errorMode: 'ignore',
    // Objects whose members nobody here knows.
    overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? { type: 'object' } : undefined),
  });
  const { $schema, ...rest } = schema;
  const whole = {
    $schema,
    title: 'A lab of Labwire as text',
    description: 'docs/labs-as-text.md says what it means',
    ...rest,
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}
