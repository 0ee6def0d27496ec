// What the OpenAPI documents of the two versions of the API do not share.
import type { RouteDefinition, Schema } from '../../api/routes/definition.ts';
import type { Json } from '../../events/json.ts';
import type { HttpRoute, Route } from '../app/route.ts';

export type Node = { [member: string]: Json };
/** The body schema of a route. */
export type SchemaOf = (schema: Schema, definition: RouteDefinition) => Node;

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
  /** Error statuses of a route that follow from its definition. */
  statuses: (route: Route) => number[];
  /** The schema of a body with texts for its members. */
  described?: (schema: Node, definition: RouteDefinition) => Node;
  /** The schema of a body, changed. */
  body?: (schema: Node, route: Route) => Node;
  /** The schema of an answer. `converted` refers to objects with a name. */
  answer?: (route: HttpRoute, converted: (schema: Schema) => Node) => Node | undefined;
  /** Schemas to which these answers refer. Bodies are those of the routes. */
  objects?: (answers: readonly Node[], routes: readonly Route[], schemaOf: SchemaOf) => Node;
}
