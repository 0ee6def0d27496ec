// JSON in the form of release 2.2.57: members sorted by name, ASCII only; responses indented by four spaces, stream messages on one line.

import { sorted } from '../host/values/sorted.ts';

/** A JSON value, as returned by routes. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json | undefined };

function ascii(text: string): string {
  return text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The body of a response. */
export function answerText(value: unknown): string {
  return ascii(JSON.stringify(sorted(value), null, 4));
}

/** One stream message, without the line end. */
export function lineText(value: unknown): string {
  return ascii(JSON.stringify(sorted(value)));
}
