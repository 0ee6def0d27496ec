// Makes foreign text safe for a terminal: names and messages must not move its cursor, colour it or reverse lines.

/** Writing directions, and ends of lines and paragraphs. */
const FORMATS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029';
const UNSAFE = new RegExp(`[\\p{Cc}${FORMATS}]`, 'gu');
/** Characters that JSON leaves unescaped. */
const UNESCAPED = new RegExp(`[\\u007f-\\u009f${FORMATS}]`, 'gu');

/** One line, with a replacement character for everything that a terminal would interpret. */
export function harmless(text: string): string {
  return text.toWellFormed().replaceAll(UNSAFE, '\ufffd');
}

/** The same for several lines. */
export function harmlessLines(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

/**
 * JSON, or YAML with unsafe texts in double quotes, with an escape for everything that a terminal would interpret. The
 * meaning stays the same.
 */
export function escaped(text: string): string {
  return text.replaceAll(UNESCAPED, (unsafe) => `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether `escaped` would change the text. */
export function hasUnsafe(text: string): boolean {
  return text.search(UNESCAPED) !== -1;
}

/** A value as JSON that is safe to show on a terminal. */
export function jsonText(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, null, indent));
}
