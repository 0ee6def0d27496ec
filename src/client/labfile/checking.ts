// Checks a file against the schema; each mistake has its place and a plain message.
import * as v from 'valibot';
import { suggestion } from '../../host/values/nearest-name.ts';
import { describeIssue } from '../../store/issues.ts';
import type { Mistake } from './file-mistakes.ts';
import { LabText } from './schema.ts';
import type { Path, Source } from './source.ts';

type Issue = v.BaseIssue<unknown>;

const pathOf = (issue: Issue): Path => (issue.path ?? []).map(({ key }) => key as string | number);

/** For a value with a short and a long form, reports the mistakes of the form that was used. */
function meantForms(issue: Issue): { issue: Issue; path: Path }[] {
  const path = pathOf(issue);
  const isObject = typeof issue.input === 'object' && issue.input !== null;
  if (issue.type !== 'union' || !issue.issues || !isObject) return [{ issue, path }];
  const within = issue.issues.filter((one) => one.path !== undefined);
  if (within.length === 0) return [{ issue, path }];
  return within.flatMap(meantForms).map((one) => ({ issue: one.issue, path: [...path, ...one.path] }));
}

/** The names of the members at the path, so far as the schema has some. */
function membersAt(whole: v.GenericSchema, path: Path): string[] {
  let schema: unknown = whole;
  for (const step of path) {
    schema = inner(schema)
      .map((form) => child(form, step))
      .find((one) => one !== undefined);
    if (schema === undefined) return [];
  }
  return inner(schema).flatMap((form) => Object.keys((form as { entries?: object }).entries ?? {}));
}

/** The alternatives of a schema, without wrappers. */
function inner(schema: unknown): unknown[] {
  const { wrapped, options, type } = schema as { wrapped?: unknown; options?: unknown[]; type: string };
  if (wrapped !== undefined) return inner(wrapped);
  return type === 'union' && options ? options.flatMap(inner) : [schema];
}

function child(schema: unknown, step: string | number): unknown {
  const { entries, item, items, value, type } = schema as {
    entries?: Record<string, unknown>;
    item?: unknown;
    items?: unknown[];
    value?: unknown;
    type: string;
  };
  if (type === 'record') return value;
  return entries?.[step] ?? items?.[Number(step)] ?? item;
}

const WORDS: Readonly<Record<string, string>> = {
  Object: 'an object',
  Array: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  null: 'nothing',
};

function described(schema: v.GenericSchema, { issue, path }: { issue: Issue; path: Path }, place: string): string {
  if (issue.expected === 'never') {
    const name = String(path.at(-1));
    const names = membersAt(schema, path.slice(0, -1));
    if (names.length === 0) return `${place}: there is no "${name}" here, nor anything else; leave it out`;
    return `${place}: there is no "${name}" here; ${suggestion(name, names)}`;
  }
  if (issue.expected === 'Object' || issue.type === 'union') {
    const wanted = issue.expected === 'Object' ? 'members, such as "name: ..."' : 'a text, or members';
    if (issue.type !== 'union' || !/"/.test(issue.expected ?? '')) {
      return `${place}: expected ${wanted}, received ${WORDS[issue.received] ?? issue.received}`;
    }
  }
  if (issue.type === 'picklist' && typeof issue.input === 'string') {
    const names = [...(issue.expected ?? '').matchAll(/"([^"]*)"/g)].map(([, one]) => one!);
    return `${place}: there is no "${issue.input}"; ${suggestion(issue.input, names)}`;
  }
  // The schema's own message is clearer than its regular expression.
  if (issue.type === 'regex' && !issue.message.startsWith('Invalid'))
    return `${place}: ${issue.message}, received ${issue.received}`;
  const { path: _path, ...without } = issue;
  return describeIssue(without as Issue, place);
}

/** A mistake in a value; `key`: the member's name is wrong. */
export interface Wrong {
  path: Path;
  of: 'key' | undefined;
  message: string;
}

/** Names that the schema skips without a word, because every object of JavaScript has such members. */
export const isReserved = (name: unknown): boolean => ['__proto__', 'constructor', 'prototype'].includes(String(name));

/** Members with a name that no file can have. */
export function reservedNames(value: unknown, before: Path = []): Wrong[] {
  const seen = new Set<unknown>();
  const found: Wrong[] = [];
  const look = (one: unknown, path: Path): void => {
    if (typeof one !== 'object' || one === null || seen.has(one)) return;
    seen.add(one);
    for (const [name, member] of Object.entries(one)) {
      const at = Array.isArray(one) ? [...path, Number(name)] : [...path, name];
      const message = `${[...before, ...at].join('.')}: "${name}" cannot be a name here; choose another`;
      if (isReserved(name)) found.push({ path: at, of: 'key', message });
      else look(member, at);
    }
  };
  look(value, []);
  return found;
}

/** All that a schema has against a value, each once; `before` is the way to the value, for the messages. */
export function wrongIn(schema: v.GenericSchema, value: unknown, before: Path = []): Wrong[] {
  const { issues = [] } = v.safeParse(schema, value);
  const reserved = reservedNames(value, before);
  const seen = new Set<string>();
  const wrong = issues.flatMap(meantForms).flatMap(({ issue, path }) => {
    const message = described(schema, { issue, path }, [...before, ...path].join('.') || 'the file');
    if (seen.has(message)) return [];
    seen.add(message);
    return [{ path, of: issue.expected === 'never' ? ('key' as const) : undefined, message }];
  });
  return [...reserved, ...wrong];
}

/**
 * Checks a file against the schema; returns its content as it was written. Unknown members are left out, so that what
 * else is wrong can be found. Other mistakes end the reading, and so does a whole part or a node under a wrong name, as
 * links to its nodes would all seem wrong.
 */
export function checkSource({ value, placeOf }: Source): { text?: LabText; mistakes: Mistake[] } {
  const rest: unknown = structuredClone(value);
  const mistakes: Mistake[] = [];
  // The schema reports one unknown member of each object at a time.
  for (;;) {
    const wrong = wrongIn(LabText, rest);
    if (wrong.length === 0) return { text: v.parse(LabText, rest), mistakes };
    mistakes.push(...wrong.map(({ path, of, message }) => ({ ...placeOf(path, of), message })));
    const isLeftOut = ({ path, of }: Wrong): boolean =>
      of === 'key' && path.length > 1 && !isReserved(path.at(-1)) && leaveOut(rest, path);
    if (!wrong.every(isLeftOut)) return { mistakes };
  }
}

function leaveOut(value: unknown, path: Path): boolean {
  const parent = path.slice(0, -1).reduce((at, step) => (at as Record<string, unknown> | undefined)?.[step], value);
  return parent !== undefined && delete (parent as Record<string, unknown>)[String(path.at(-1))];
}
