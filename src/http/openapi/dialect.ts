// What the OpenAPI documents of the two versions of the API do not share.
import type { Json } from '../../events/json.ts';
import type { HttpRoute, Route, RouteWords } from '../app/route.ts';
import type { Schema } from '../app/validation.ts';

export type Node = { [member: string]: Json };
/** The body schema of a route. */
export type SchemaOf = (schema: Schema, pattern: string) => Node;

/** What the document of one version of the API says by itself. */
export interface Dialect {
  description: string;
  security: Node[];
  securitySchemes: Node;
  /** Meaning of each error status. */
  refusals: Readonly<Record<number, string>>;
  /** Schema of the body of a refusal. */
  refusal: Node;
  /** Statuses of refusals without a body. */
  withoutBody: readonly number[];
  /** Texts for a route. */
  words: (route: Route) => RouteWords | undefined;
  /** Error statuses of a route that follow from its definition. */
  statuses: (route: Route) => number[];
  /** Whether a route needs no login. */
  isOpen?: (route: Route) => boolean;
  /** The schema of a body, changed. */
  body?: (schema: Node, route: Route) => Node;
  /** The schema of an answer. */
  answer?: (route: HttpRoute) => Node | undefined;
  /** Schemas to which answers refer. */
  objects?: (routes: readonly Route[], schemaOf: SchemaOf) => Node;
}
