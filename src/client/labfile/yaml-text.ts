// YAML that a terminal shows as it is.
import { type Document, visit } from 'yaml';
import { escaped, hasUnsafe } from '../../host/terminal/terminal-text.ts';

/** The text of a document, no line broken; what a terminal would obey is escaped, and so in double quotes. */
export function yamlText(document: Document): string {
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && hasUnsafe(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ lineWidth: 0 }));
}
