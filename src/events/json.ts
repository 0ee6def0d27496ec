// JSON as clients of release 2.2.57 see it: members sorted by name, ASCII only; answers indented by four spaces, stream lines on one line.

import { sorted } from '../host/values/sorted.ts';

/** A JSON value; what routes answer. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json | undefined };

function ascii(text: string): string {
  return text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The body of an answer. */
export function answerText(value: unknown): string {
  return ascii(JSON.stringify(sorted(value), null, 4));
}

/** One message of a stream, without its line end. */
export function lineText(value: unknown): string {
  return ascii(JSON.stringify(sorted(value)));
}
