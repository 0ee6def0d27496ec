// YAML text that is safe to print on a terminal.
import { type Document, visit } from 'yaml';
import { escaped, hasUnsafe } from '../../host/terminal/terminal-text.ts';

/** The document as text without line folding; control characters are escaped in double quotes. */
export function yamlText(document: Document): string {
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && hasUnsafe(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ lineWidth: 0 }));
}
