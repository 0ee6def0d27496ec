// Parses untrusted JSON and formats JSON for people.
import { Failure, invalid, messageOf } from '../failures.ts';
import { log } from '../host/log.ts';
import { sorted } from '../host/values/sorted.ts';

/** A JSON object of unknown structure. */
export type JsonObject = Record<string, unknown>;

/** Limits for a document. Its size says little: an object of two bytes needs as much memory as a text of a thousand. */
export interface JsonBounds {
  /** Levels of nesting. */
  maxDepth: number;
  /** Objects and lists. */
  maxContainers: number;
  /** Values of any kind, objects and lists included. */
  maxValues: number;
  /** Whether half of a surrogate pair is refused, which no file, database or address can hold. */
  wellFormed: boolean;
}

/**
 * Levels: far more than a document of the API or a topology file needs (a dozen), far fewer than exhaust the stack. The
 * others: a lab of 10,000 nodes and as many links has 130,000 objects and lists, and 700,000 values.
 */
const DEFAULT_BOUNDS: JsonBounds = { maxDepth: 100, maxContainers: 200_000, maxValues: 1_000_000, wellFormed: false };

/**
 * Parses untrusted JSON text; exceeded limits and members named `__proto__` are rejected. Throws `Failure('invalid')`
 * whose message begins with the mistake.
 */
export function parseJsonBounded(text: string, options: Partial<JsonBounds> = {}): unknown {
  const bounds = { ...DEFAULT_BOUNDS, ...options };
  const excess = excessOf(text, bounds);
  if (excess !== undefined) throw invalid(`${excess}; divide the document, or flatten it`);
  try {
    // A reviver multiplies the cost of parsing: it is only used if the text can contain such a member (plain or with
    // escaped letters).
    const mayHalve = bounds.wellFormed && /\\ud[89a-f]/i.test(text);
    const suspect = mayHalve || /__proto__|\\u00[567]/i.test(text);
    return JSON.parse(text, suspect ? refusing(mayHalve) : undefined);
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw invalid(`not valid JSON: ${messageOf(thrown)}`);
  }
}

/** Parses a stored object; undefined with a log line if the text is damaged. `what` names it. */
export function storedObject<T extends object = JsonObject>(text: unknown, what: string): T | undefined {
  const value = readObject(text);
  if (value !== undefined) return value as T;
  log.error('a record of the database is damaged and left out; see "labwired recover"', { record: what });
  return undefined;
}

/** Parses an object, also if only its last brace is missing, as in a file cut by one byte; otherwise undefined. */
export function readObject(text: unknown): JsonObject | undefined {
  const whole = String(text);
  for (const candidate of [whole, `${whole.replace(/\0$/, '')}}`]) {
    try {
      const value: unknown = JSON.parse(candidate);
      if (isObject(value)) return value;
    } catch {
      // Try the next one.
    }
  }
  return undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Indented by four, members sorted by name, as in all JSON files for people here. */
export function formatJson(value: unknown): string {
  return JSON.stringify(sorted(value), undefined, 4);
}

const refusing =
  (halves: boolean) =>
  (name: string, value: unknown): unknown => {
    if (name === '__proto__') throw invalid("a member named '__proto__' is not allowed; leave it out");
    if (halves && !(name.isWellFormed() && (typeof value !== 'string' || value.isWellFormed())))
      throw invalid('a text has half of a surrogate pair (\\ud800 to \\udfff), which is no character');
    return value;
  };

/**
 * The limit of a document that a text exceeds. One pass that skips strings; malformed text may be misjudged, but the parser rejects
 * it.
 */
export function excessOf(
  text: string,
  { maxDepth, maxContainers, maxValues }: JsonBounds = DEFAULT_BOUNDS,
): string | undefined {
  let depth = 0;
  let containers = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        containers += 1;
        values += 1;
        if (depth > maxDepth) return `JSON nested deeper than ${maxDepth} levels`;
        if (containers > maxContainers) return `JSON of more than ${maxContainers} objects and lists`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
        if (values > maxValues) return `JSON of more than ${maxValues} values`;
        break;
      case 0x22: // "
        at = endOfString(text, at);
        break;
    }
  }
  return undefined;
}

/** Index of the quotation mark that ends the string at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
