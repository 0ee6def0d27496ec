// The answers of routes for an OpenAPI document: objects have the members of the bodies that create them, and those that only the server sets.
import type { Route } from '../app/route.ts';
import type { Dialect, Node, SchemaOf } from './dialect.ts';

export const text: Node = { type: 'string' };
export const number: Node = { type: 'number' };
export const integer: Node = { type: 'integer' };
export const truth: Node = { type: 'boolean' };
export const id: Node = { type: 'string', format: 'uuid' };
export const object: Node = { type: 'object' };
export const oneOf = (...values: string[]): Node => ({ type: 'string', enum: values });
export const orNull = (schema: Node): Node => ({ anyOf: [schema, { type: 'null' }] });
export const listOf = (items: Node): Node => ({ type: 'array', items });
export const mapOf = (value: Node): Node => ({ type: 'object', additionalProperties: value });
export const reference = (name: string): Node => ({ $ref: `#/components/schemas/${name}` });

export interface ObjectWords {
  /** The route whose body has the other members. */
  of?: string;
  /** Members of the body that answers never have. */
  without?: readonly string[];
  /** Members that only the server sets, or that it may answer in another form. */
  members: Readonly<Record<string, Node>>;
  /** Those of `members` that may be missing. */
  optional?: readonly string[];
}

/** What the routes of one version of the API answer. */
export interface AnswerTable {
  /** By the names under which answers refer to them. */
  objects: Readonly<Record<string, ObjectWords>>;
  /** What routes (method and pattern) answer that does not follow from the last noun of their path. */
  answers: Readonly<Record<string, Node>>;
  /** What is in a list, by the last noun of its path. */
  nouns: Readonly<Record<string, string>>;
  /** The same of what there is one of. */
  single: Readonly<Record<string, string>>;
  /** Answers of other servers, and streams. */
  unknown: RegExp;
  /** The name of a route in `answers`, if that is not its own. */
  nameOf?: (name: string) => string;
}

export function describedAnswers(table: AnswerTable): Required<Pick<Dialect, 'answer' | 'objects'>> {
  return {
    answer: ({ method, pattern, definition }) => definition.answer && answerSchema(`${method} ${pattern}`, table),
    objects: (answers, routes, schemaOf) => objectSchemas(table.objects, answers, routes, schemaOf),
  };
}

/** The schema of what a route answers, if it is known. */
function answerSchema(own: string, { answers, nouns, single, unknown, nameOf }: AnswerTable): Node | undefined {
  const name = nameOf?.(own) ?? own;
  if (name in answers) return answers[name];
  if (unknown.test(name)) return undefined;
  const [method, path = ''] = name.split(/ \/v\d\//);
  const words = path.split('/').filter((word) => !word.startsWith('{'));
  const noun = words.findLast((word) => word in nouns || word in single);
  if (noun === undefined) return undefined;
  if (noun in single) return reference(single[noun]!);
  const one = reference(nouns[noun]!);
  return method === 'GET' && path.endsWith(noun) ? listOf(one) : one;
}

function objectSchemas(
  objects: AnswerTable['objects'],
  answers: readonly Node[],
  routes: readonly Route[],
  schemaOf: SchemaOf,
): Node {
  const bodyOf = (name: string): Node => {
    const route = routes.find(({ method, pattern }) => `${method} ${pattern}` === name);
    const body = route?.kind === 'http' ? route.definition.body : undefined;
    if (body === undefined) throw new Error(`${name} has no body`);
    return (schemaOf(body, route?.definition ?? {})['properties'] ?? {}) as Node;
  };
  const found: Node = {};
  const add = (schema: Node | readonly Node[]): void => {
    for (const [, name] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const words = objects[name!];
      if (words === undefined || name! in found) continue;
      const { of, without = [], members, optional = [] } = words;
      const given = Object.entries(of === undefined ? {} : bodyOf(of)).filter(([member]) => !without.includes(member));
      const properties = {
        ...Object.fromEntries(given.map(([member, value]) => [member, answered(value)])),
        ...members,
      };
      const required = Object.keys(members).filter((member) => !optional.includes(member));
      const made = { type: 'object', properties, required };
      found[name!] = made;
      add(made);
    }
  };
  add(answers);
  return found;
}

/** The schema of a member of an answer: without what only bodies have. */
function answered(schema: Node[string]): Node {
  return JSON.parse(JSON.stringify(schema), (name, value) => {
    if (name === 'default' || name === 'additionalProperties' || name.startsWith('x-')) return undefined;
    return value;
  });
}
