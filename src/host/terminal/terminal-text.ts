// Texts of others on a terminal: names and messages must not move its cursor, colour it or turn lines round.

/** Directions of writing, and ends of lines and paragraphs. */
const FORMATS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029';
const UNSAFE = new RegExp(`[\\p{Cc}${FORMATS}]`, 'gu');
/** Those that JSON leaves as they are. */
const UNESCAPED = new RegExp(`[\\u007f-\\u009f${FORMATS}]`, 'gu');

/** One line, with a replacement character for whatever a terminal would obey. */
export function harmless(text: string): string {
  return text.toWellFormed().replaceAll(UNSAFE, '\ufffd');
}

/** The same of several lines. */
export function harmlessLines(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

/** JSON, or YAML whose unsafe texts are in double quotes, with an escape for whatever a terminal would obey: it means the same. */
export function escaped(text: string): string {
  return text.replaceAll(UNESCAPED, (unsafe) => `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether `escaped` has something to do. */
export function hasUnsafe(text: string): boolean {
  return text.search(UNESCAPED) !== -1;
}

/** A value as JSON that a terminal shows as it is. */
export function jsonText(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, null, indent));
}
