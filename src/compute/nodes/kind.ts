// The definition of a kind of node: what its folder registers, and what the common routes are generated from. What the controller and
// the files know of a kind is in src/store/node-kinds.
import type * as v from 'valibot';
import type { Config } from '../../config/schema.ts';
import type { Console } from '../../consoles/console.ts';
import { Failure } from '../../failures.ts';
import type { Verdict } from '../../host/values/check-result.ts';
import type { Connected, Route } from '../../http/app/route.ts';
import type { Schema } from '../../http/app/validation.ts';
import type { NodeType } from '../../store/vocabulary.ts';
import type { Services } from '../services.ts';
import type { IsOver, KeptData } from './lifecycle/surviving-programs.ts';
import type { Node, NodeIdentity } from './node.ts';
import type { PortRules } from './ports/port.ts';

/** The node with these identifiers. Throws a Failure `not-found` or `invalid`. */
export type FindNode<Kind extends Node = Node> = (params: Record<'project_id' | 'node_id', string>) => Kind;

/** A start that is told something. */
export interface StartingWith<Kind extends Node, Body extends Schema = Schema> {
  readonly body: Body;
  start(node: Kind, body: v.InferOutput<Body>): Promise<void>;
}

/** Something on this host that a kind of node needs. */
export interface HostCheck {
  /** The program or device, as the report calls it. */
  readonly subject: string;
  /** The part of a document that says more: `qemu#frames`, as `labwired help` takes it. */
  readonly see: string;
  /**
   * Changes nothing, and takes less than `PROBE_MS`. Undefined when there is nothing to look at.
   * @param daemon process id of the server that runs with this configuration, if one does
   */
  examine(config: Config, daemon: number | undefined): Verdict | undefined | Promise<Verdict | undefined>;
}

/** Milliseconds that a program may take to answer a check, so that one that hangs is named. */
export const PROBE_MS = 4_700;

/** An ability that is not there has no route. */
export interface NodeKind<Create extends Schema = Schema, Update extends Schema = Schema, Kind extends Node = Node>
  extends PortRules {
  /** Name in the API: `vpcs`. What the controller must know of it is in `store/node-kinds`. */
  readonly type: NodeType;
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
  /**
   * The properties that a node would have which is made with these, for clients that want to know before. Not given where a node has just
   * what it is told.
   * @throws Failure `conflict` that begins with the name of the property that is not taken
   */
  foresee?(body: v.InferOutput<Create>): object;
  /** Gives the files of one node to another one that exists; its settings were given when that was created. */
  duplicate?(source: Kind, destination: Kind): Promise<void>;
  /** A start that takes a body; without it a start takes whatever is sent, and looks at nothing of it. */
  readonly starting?: StartingWith<Kind>;
  reload?(node: Kind): Promise<void>;
  resume?(node: Kind): Promise<void>;
  /** The number that a node's MAC address is made of, where a controller may choose it. */
  readonly macNumber?: {
    get(node: Kind): number;
    /** Without effect while the node runs. */
    set(node: Kind, number: number): void;
  };
  /** For snapshots of running labs: the state of a node that runs is kept in its files, dropped from them, and started from. */
  readonly runningState?: {
    /** The node stands still afterwards, until it is dropped. @throws Failure `conflict` for a node that cannot, with the reason */
    keep(node: Kind): Promise<void>;
    drop(node: Kind): Promise<void>;
    start(node: Kind): Promise<void>;
  };
  /** What it keeps with its programs, to know them again; undefined if none of them outlives the server. */
  readonly kept?: KeptData;
  /** What `labwired doctor` looks at for it, in the order of the report. */
  readonly doctor?: readonly HostCheck[];
  /** Why its nodes cannot run on this host, and what to do about it; undefined if they can. Always, if it is left out. */
  hindrance?(config: Config): Promise<string | undefined>;
  /** Routes of this kind alone, with their words for the API document; `find` answers the node that a path names. */
  routes?(find: FindNode<Kind>): Route[];
  /** The same, of routes that are about no node: its programs and files on this host. */
  hostRoutes?(services: Services): Route[];
  /** Ends what a former life of the server has left outside of the supervisor, of nodes that are over and have not taken it back. */
  endUnclaimed?(services: Services, isOver: IsOver): Promise<void>;
  readonly console?: {
    /** @throws Failure `conflict` if there is no console to connect to */
    connect(node: Kind): Console;
    /** To its port, for the bytes of whatever listens there. @throws Failure as `connect` */
    connectPort(node: Kind): Promise<Connected>;
    /** To the second console, of kinds that have one. @throws Failure as `connect` */
    connectAuxiliary?(node: Kind): Console;
    /** To the VNC display, of kinds that can have one. @throws Failure as `connect` */
    connectDisplay?(node: Kind): Promise<Connected>;
    reset(node: Kind): Promise<void>;
  };
}

/** What a search for something on this host is refused with, if it is. */
export async function refusalOf(search: () => unknown): Promise<string | undefined> {
  try {
    await search();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.message;
    throw thrown;
  }
}

/** The members that a body of a schema may have. */
export const entriesOf = (schema: unknown): v.ObjectEntries => (schema as { entries?: v.ObjectEntries }).entries ?? {};

/** Checks a definition against its own schemas and class. */
export function defineKind<Create extends Schema, Update extends Schema, Kind extends Node>(
  kind: NodeKind<Create, Update, Kind>,
): NodeKind {
  return kind;
}
