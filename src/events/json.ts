// JSON in the form of release 2.2.57: members sorted by name, ASCII only; responses indented by four spaces, stream messages on one line.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sorted } from '../host/values/sorted.ts';

/** A JSON value, as returned by routes. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json | undefined };

/** A list of at least this many entries is written in turns. */
const LONG_LIST = 50;
/** How long (ms) a long list is written before other requests get a turn. */
const TURN_MS = 2;
/** Size of a part of a long list's text: small enough for the C library to use again without new pages of the kernel. */
const PART_BYTES = 64 * 1024;
/** Shorter texts (characters) are not kept: writing them again costs little. */
const LEAST_KEPT = 200;
/** Shapes of objects whose member order is kept. */
const MOST_SHAPES = 1_000;

function ascii(text: string): string {
  return text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One stream message, without the line end. */
export function lineText(value: unknown): string {
  return ascii(JSON.stringify(sorted(value)));
}

/** The body of a response. */
export function answerText(value: unknown): string {
  return written(value, '\n');
}

/**
 * The body of a response: a long list in parts of some 64 KiB, and other requests get their turns while it is written. Its entries must
 * not change meanwhile. Joining such a list to one string would cost several times as much as writing it.
 */
export async function answerBody(value: unknown): Promise<string | Buffer[]> {
  if (!Array.isArray(value) || value.length < LONG_LIST) return answerText(value);
  const parts = new Parts();
  let end = performance.now() + TURN_MS;
  for (const [index, entry] of value.entries()) {
    parts.add(index === 0 ? '[\n    ' : ',\n    ');
    parts.add(written(entry, '\n    '));
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + TURN_MS;
  }
  parts.add('\n]');
  return parts.take();
}

/** ASCII text as buffers. */
class Parts {
  readonly #full: Buffer[] = [];
  #part = Buffer.allocUnsafe(PART_BYTES);
  #used = 0;

  add(text: string): void {
    if (text.length > PART_BYTES - this.#used) this.#next(Math.max(PART_BYTES, text.length));
    this.#used += this.#part.write(text, this.#used, 'latin1');
  }

  take(): Buffer[] {
    this.#next(0);
    return this.#full;
  }

  #next(bytes: number): void {
    if (this.#used > 0) this.#full.push(this.#part.subarray(0, this.#used));
    this.#part = Buffer.allocUnsafe(bytes);
    this.#used = 0;
  }
}

/** Texts of large immutable parts, such as the ports of a node, with the line break and indentation that they were written with. */
let kept = new WeakMap<object, { text: string; line: string }>();

/** Drops the texts that are kept for the next response. */
export function forgetTexts(): void {
  kept = new WeakMap();
  shapes.clear();
}

/** @param line the line break and the indentation of the value */
function written(value: unknown, line: string): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const before = kept.get(value);
  if (before?.line === line) return before.text;
  const text = Array.isArray(value)
    ? listed(
        value.map((entry) => written(entry, `${line}    `)),
        line,
      )
    : writtenObject(value as Record<string, unknown>, line);
  // What is frozen is deeply so (see host/values/frozen.ts).
  if (text.length >= LEAST_KEPT && Object.isFrozen(value)) kept.set(value, { text, line });
  return text;
}

function listed(parts: string[], line: string): string {
  return parts.length === 0 ? '[]' : enclosed('[', parts, `${line}    `, `${line}]`);
}

/** One flat string: joining it again later is a plain copy, which it would not be for a concatenation. */
function enclosed(open: string, parts: string[], inner: string, close: string): string {
  parts[0] = open + inner + parts[0];
  parts[parts.length - 1] += close;
  return parts.join(`,${inner}`);
}

function writtenObject(value: Record<string, unknown>, line: string): string {
  const inner = `${line}    `;
  const parts: string[] = [];
  for (const name of namesOf(value)) {
    const member = value[name];
    if (member !== undefined) parts.push(`${quoted(name)}: ${written(member, inner)}`);
  }
  return parts.length === 0 ? '{}' : enclosed('{', parts, inner, `${line}}`);
}

/** Sorted member names by the unsorted ones: the objects of a list have few shapes. */
const shapes = new Map<string, readonly string[]>();

function namesOf(value: object): readonly string[] {
  const names = Object.keys(value);
  const shape = names.join('\n');
  let inOrder = shapes.get(shape);
  if (inOrder === undefined) {
    inOrder = names.sort((a, b) => (a < b ? -1 : 1));
    if (shapes.size >= MOST_SHAPES) shapes.clear();
    shapes.set(shape, inOrder);
  }
  return inOrder;
}

function quoted(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : ascii(JSON.stringify(text));
}
