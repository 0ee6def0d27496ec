// What a route is: who may call it, its body, its answer, and its texts. The handlers, the access checks and the API documents read it; a
// client that imports its types gets no code. Patterns are those of the interface documents: `{name}` is one segment, `{name:\d+}` digits,
// `{name:.+}` the rest of the path.
import type * as v from 'valibot';
import type { Privilege } from '../privileges.ts';
import type { NodeType } from '../vocabulary.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Any synchronous schema. */
export type Schema = v.GenericSchema<unknown, unknown>;

/**
 * Who may call a route.
 * - `read`: every account
 * - `use`: users, who create labs of their own
 * - `watch`: accounts that may view the lab in the path
 * - `change`: accounts that may change it
 * - `type`: accounts that may view it; input is dropped unless they may change it
 * - `pass`: users, for the few emulator queries that reveal nothing about labs; otherwise admins
 * - `figures`: admins, and any token of an admin
 * - `admin`: admins
 */
export type RouteAccess = 'read' | 'use' | 'watch' | 'change' | 'type' | 'pass' | 'figures' | 'admin';

declare const ANSWER: unique symbol;

/** Files with what is not in the database; `project` are those of the lab in the path, and of one that the route makes. */
export type KeptFiles = 'accounts' | 'project' | 'symbols';

/** A JSON answer: its type, and its schema if documents describe it from there. Answers are not checked. */
export interface Answers<T> {
  readonly [ANSWER]?: T;
  readonly schema?: Schema;
}

export function answers<S extends Schema>(schema: S): Answers<v.InferOutput<S>>;
/** `T` is looser than the schema: the answer comes from another server, unchecked. */
export function answers<T>(schema?: Schema): Answers<T>;
export function answers(schema?: Schema): Answers<unknown> {
  return schema ? { schema } : {};
}

export interface RouteDefinition {
  /** `admin` unless given. */
  readonly access?: RouteAccess;
  /** The privilege with which entries of the access list open it to others; without one they do not. */
  readonly privilege?: Privilege;
  /** Where entries are looked up: its path in release 3.0.6 without the version, if that differs. */
  readonly entryPath?: `/${string}`;
  /** Everybody may call it without a login: it must not rely on the client's identity. */
  readonly open?: true;
  /** It changes nothing that is stored, whatever its method: the audit trail has no line of it. */
  readonly unaudited?: true;
  /** What it changes is in these files too: in a cluster it is acknowledged when the next controller can have them. */
  readonly keeps?: KeptFiles;
  readonly socket?: true;
  /** Schema of the body merged with the query; without it any JSON is accepted. */
  readonly body?: Schema;
  /** The complete body schemas, if `body` validates only their common part. */
  readonly forms?: () => readonly Schema[];
  /** The body has settings of nodes or templates, of this kind if it is one: the document gives them titles. */
  readonly settings?: NodeType | true;
  /** Of success; 200 unless given. */
  readonly status?: number;
  /** The body is not parsed: it is a file or missing. */
  readonly raw?: true;
  /** It does not wait for its turn at its node: a stream, a request that only reads, or work that gives way to others. */
  readonly concurrent?: true;
  /** Without it the answer is a file, a stream or empty. */
  readonly answer?: Answers<unknown>;
  /** Media type of the answer if it is neither JSON nor a file; empty without content. */
  readonly answerType?: string;
  readonly summary?: string;
  /** Error statuses besides those that follow from the definition. */
  readonly errors?: readonly number[];
  /** Query parameters that are not body members. */
  readonly query?: Readonly<Record<string, string>>;
}

/** By method and pattern. */
export type RouteDefinitions = Readonly<Record<`${Method} /${string}`, RouteDefinition>>;

export const WINDOW_QUERY = {
  cols: 'Columns of the window (an extension): with cols and rows text messages are control messages, and input is binary',
  rows: 'Rows of the window (an extension)',
};
export const LAST_QUERY = { last: 'Begin, behind the header, about so many bytes before the end (an extension)' };
export const NODE_LOAD_QUERY = { nodes: 'A project: the answer has the load of its nodes, too (an extension)' };
