// The definition of a kind of node: what its folder registers, and what the common routes are generated from.
import type * as v from 'valibot';
import type { Connected, Route } from '../../http/route.ts';
import type { Schema } from '../../http/validation.ts';
import type { Services } from '../services.ts';
import type { Node, NodeIdentity } from './node.ts';
import type { PortRules } from './port.ts';
import type { KeptData } from './surviving-programs.ts';

/** The node with these identifiers. Throws a Failure `not-found` or `invalid`. */
export type FindNode<Kind extends Node = Node> = (params: Record<'project_id' | 'node_id', string>) => Kind;

/** A start that is told something. */
export interface StartingWith<Kind extends Node, Body extends Schema = Schema> {
  readonly body: Body;
  start(node: Kind, body: v.InferOutput<Body>): Promise<void>;
}

/** An ability that is not there has no route. */
export interface NodeKind<Create extends Schema = Schema, Update extends Schema = Schema, Kind extends Node = Node>
  extends PortRules {
  /** Name in the API: `vpcs`. */
  readonly type: string;
  /** Folder below `project-files` in which its nodes have their directories; undefined if they have none. */
  readonly module: string | undefined;
  /** Body of creation; the output has `name` and may have `node_id`. */
  readonly create: Create;
  readonly update: Update;
  /** Starting answers the node (200) instead of nothing (204). */
  readonly startAnswersNode: boolean;
  /** An attached NIO can be changed. */
  readonly updatesNio: boolean;
  /** Makes the node; when it throws, nothing of it is left. */
  make(identity: NodeIdentity, body: v.InferOutput<Create>, services: Services): Promise<Kind>;
  change(node: Kind, body: v.InferOutput<Update>): Promise<void>;
  /** Gives the files of one node to another one that exists; its settings were given when that was created. */
  duplicate?(source: Kind, destination: Kind): Promise<void>;
  /** A start that takes a body; without it a start takes whatever is sent, and looks at nothing of it. */
  readonly starting?: StartingWith<Kind>;
  reload?(node: Kind): Promise<void>;
  resume?(node: Kind): Promise<void>;
  /** What it keeps with its programs, to know them again; undefined if none of them outlives the server. */
  readonly kept?: KeptData;
  /** Routes of this kind alone; `find` answers the node that a path names. */
  routes?(find: FindNode<Kind>): Route[];
  /** Routes of this kind that are about no node: its programs and files on this host. */
  hostRoutes?(services: Services): Route[];
  readonly console?: {
    /** @throws Failure `conflict` if there is no console to connect to */
    connect(node: Kind): Connected;
    reset(node: Kind): Promise<void>;
  };
}

/** Checks a definition against its own schemas and class. */
export function defineKind<Create extends Schema, Update extends Schema, Kind extends Node>(
  kind: NodeKind<Create, Update, Kind>,
): NodeKind {
  return kind;
}
