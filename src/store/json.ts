// JSON from people we do not know, and JSON for people to read.
import { Failure, messageOf } from '../failures.ts';
import { sorted } from '../host/sorted.ts';

/** A JSON object whose members only its owner knows. */
export type JsonObject = Record<string, unknown>;

/** Far more than any document of the API or of a topology file has (a dozen), far less than what exhausts a stack. */
const DEFAULT_DEPTH = 100;

/**
 * Parses JSON text that may be hostile: nesting beyond `maxDepth` (100 unless told) and members named `__proto__` are
 * refused. Throws `Failure('invalid')`, whose message begins with what is wrong.
 */
export function parseJsonBounded(text: string, options: { maxDepth?: number } = {}): unknown {
  const maxDepth = options.maxDepth ?? DEFAULT_DEPTH;
  if (isDeeperThan(text, maxDepth)) {
    throw new Failure('invalid', `JSON nested deeper than ${maxDepth} levels; flatten the document`);
  }
  try {
    // A reviver costs a multiple of the parsing itself: only a text that can hold such a member (plain or with escaped
    // letters) gets one.
    const suspect = /__proto__|\\u00[567]/i.test(text);
    return JSON.parse(text, suspect ? refusePrototype : undefined);
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw new Failure('invalid', `not valid JSON: ${messageOf(thrown)}`);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Indented by four, members sorted by name, as all JSON that people read here. */
export function formatJson(value: unknown): string {
  return JSON.stringify(sorted(value), undefined, 4);
}

function refusePrototype(name: string, value: unknown): unknown {
  if (name === '__proto__') throw new Failure('invalid', "a member named '__proto__' is not allowed; leave it out");
  return value;
}

/** One pass over the text, strings leapt over; malformed text may be misjudged, which the parser then finds. */
function isDeeperThan(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > maxDepth) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x22: // "
        at = endOfString(text, at);
        break;
    }
  }
  return false;
}

/** Index of the quotation mark that ends the string which begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
